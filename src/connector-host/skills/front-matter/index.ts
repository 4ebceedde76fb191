export { type FrontMatter, parseFrontMatter } from "./parse-front-matter.js";
