// Part of `npm run build`: writes the JSON Schema of the configuration into the package `grantry`.
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from './configuration-schema.ts'

writeFileSync(
  new URL('../packages/server/dist/configuration.schema.json', import.meta.url),
  `${JSON.stringify(configurationJsonSchema(), undefined, 2)}\n`,
)
