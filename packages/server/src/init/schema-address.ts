/** Where editors find the JSON Schema of the configuration: in the package `grantry` of this very version. */
export const schemaAddress = (version: string): string =>
  `https://unpkg.com/grantry@${version}/dist/configuration.schema.json`
