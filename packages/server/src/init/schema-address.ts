/** Returns the URL of the JSON Schema of the configuration, in this version of the package `grantry`. */
export const schemaAddress = (version: string): string =>
  `https://unpkg.com/grantry@${version}/dist/configuration.schema.json`
