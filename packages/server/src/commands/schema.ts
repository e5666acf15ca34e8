import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createJsonSchema } from '@grantry/administration/api'
import {
  collectParts,
  type DirectorySchemas,
  directorySchemasOf,
  isJsonObject,
  type JsonObject,
  type MemberTexts,
  type Plugins,
} from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { Command } from 'commander'
import { orVariable } from '../configuration/environment.ts'
import { parseJson } from '../configuration/parse-json.ts'
import { errorMessage } from '../error-message.ts'
import { schemaAddress } from '../init/template.ts'
import { configOption } from '../opening/command-options.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'
import { providerOptions } from '../provider-options/provider-options.ts'
import { version } from '../version.ts'
import { print } from './output.ts'

interface SchemaArguments {
  readonly config?: string
  readonly base?: string
}

/** Converts the members that plugins add, in the same way as those of the published schema. */
const convert = createJsonSchema({ value: orVariable })

/** Adds the members that an object of the published schema does not have. */
function completed(object: JsonObject, schema: unknown, texts: MemberTexts): JsonObject {
  const known = object.properties as JsonObject
  const members = Object.entries(convert(schema).properties as JsonObject).filter(
    ([name]) => !Object.hasOwn(known, name),
  )
  const described = members.map(([name, member]): [string, JsonObject] => {
    const { title = name, text } = texts[name] ?? {}
    return [name, { title, ...(text !== undefined && { description: text }), ...(member as JsonObject) }]
  })
  return { ...object, properties: { ...known, ...Object.fromEntries(described) } }
}

/** Completes `clients` and `scopes` among the settings of the server, or of a tenant. */
function withMembers(settings: JsonObject, schemas: DirectorySchemas): JsonObject {
  const list = (name: 'clients' | 'scopes', schema: unknown, texts: MemberTexts): JsonObject => {
    const { items, ...array } = settings[name] as JsonObject
    return { ...array, items: completed(items as JsonObject, schema, texts) }
  }
  return {
    ...settings,
    clients: list('clients', schemas.clientSchema, schemas.clientTexts),
    scopes: list('scopes', schemas.scopeSchema, schemas.scopeTexts),
  }
}

/** Replaces the value at a path of an object. */
function changed(value: JsonObject, [name = '', ...path]: readonly string[], change: (at: JsonObject) => JsonObject) {
  const at = value[name]
  if (!isJsonObject(at)) throw new TypeError(`is not the schema of grantry ${version}: it has no ${name}`)
  const result: JsonObject = { ...value, [name]: path.length === 0 ? change(at) : changed(at, path, change) }
  return result
}

/** Returns the published schema with what the plugins of a configuration add. */
function schemaWith(base: JsonObject, plugins: Plugins): JsonObject {
  const schemas = directorySchemasOf(plugins)
  const endpointNames = collectParts(plugins).flatMap(({ part }) => (part.kind === 'endpoint' ? [part.name] : []))
  const members = (settings: JsonObject): JsonObject => withMembers(settings, schemas)
  const endpoints = (names: JsonObject): JsonObject => ({
    ...Object.fromEntries(endpointNames.map((name) => [name, names.token ?? {}])),
    ...names,
  })
  const ofServer = changed(base, ['properties'], members)
  const ofTenants = ['properties', 'tenants', 'properties', 'list', 'items', 'properties']
  return changed(changed(ofServer, ofTenants, members), ['properties', 'endpoints', 'properties'], endpoints)
}

/** @throws TypeError with a one-line message if the published schema cannot be read. */
async function publishedSchema(file: string): Promise<JsonObject> {
  try {
    return (await parseJson(await readFile(file, 'utf8'), 'any')) as JsonObject
  } catch (cause) {
    const remedy = `pass the published schema with --base, ${schemaAddress(version)}`
    throw new TypeError(`${file}: cannot be read (${errorMessage(cause)}); ${remedy}`, { cause })
  }
}

/** The path of the published schema, which the build writes beside the program. */
const published = (): string => fileURLToPath(new URL('configuration.schema.json', import.meta.url))

/** Runs `grantry schema`. It loads the plugins, and neither opens the storage nor checks clients. */
async function schemaCommand({ config, base = published() }: SchemaArguments): Promise<string> {
  const schema = await publishedSchema(base)
  const { configuration, directory } = await requireConfiguration(config)
  const { plugins } = await providerOptions({ configuration, directory }, memoryDriver(), () => {})
  const { $id: _, ...rest } = schemaWith(schema, plugins)
  return `${JSON.stringify(rest, undefined, 2)}\n`
}

export function addSchemaCommand(grantry: Command): void {
  grantry
    .command('schema')
    .description('print the JSON Schema of the configuration with the members that its plugins add, for editors')
    .option(...configOption)
    .option('--base <file>', 'the published schema (default: the one of this package)')
    .action(async (options: SchemaArguments) => {
      print(await schemaCommand(options))
    })
}
