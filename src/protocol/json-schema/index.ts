export { createAdaptiveValidator } from "./adaptive-validator.js";
export { createAjvValidator } from "./ajv-validator.js";
export { createInterpretingValidator } from "./interpreting-validator.js";
export { createSchemaCheck, type SchemaCheck, type SchemaCheckOptions } from "./schema-check.js";
export { classifyStructuredContent, judgeStructuredContent, type StructuredContentCase } from "./structured-content.js";
export { type SchemaValidatorOptions } from "./validator-options.js";
export { type SchemaProblem, type SchemaValidator, type SchemaVerdict } from "./verdict.js";
