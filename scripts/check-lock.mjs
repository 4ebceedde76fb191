/** Fails when package-lock.json holds download addresses: they would tie an installation to one registry. */
import { readFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const addressed = Object.keys(packages).filter((name) => "resolved" in packages[name]);
for (const name of addressed) console.error(`${name}: has a download address`);
process.exitCode = addressed.length === 0 ? 0 : 1;
