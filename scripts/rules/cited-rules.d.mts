export function rulesIn(name: string): readonly string[];
export function citedIn(file: string, source: string): ReadonlySet<string>;
export function citingFiles(folder: string): ReadonlyMap<string, readonly string[]>;
