import { directorySchemasOf, type JsonObject, type MemberText, memberGroups } from '@grantry/core'
import { tags } from '../kinds/kind.ts'
import { adminScope, readScope } from './administrator.ts'
import type { AdminHost } from './host.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { Operation } from './operation.ts'

const problem: JsonObject = {
  description: 'The request is refused',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

const components: JsonObject = {
  schemas: {
    Problem: {
      type: 'object',
      description: 'RFC 9457',
      properties: {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string' },
        error: { type: 'string', description: 'The error code, as in OAuth 2.0' },
        member: { type: 'string', description: 'The path of the wrong member, such as redirectUris[0]' },
      },
      required: ['type', 'title', 'status'],
    },
  },
  securitySchemes: {
    token: {
      type: 'http',
      scheme: 'bearer',
      description: `An access token with the scope ${adminScope}, or for GET ${readScope}`,
    },
  },
}

const hasBody = ({ method }: Operation): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

const idsIn = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => name)

const header = (name: string, required: boolean, description: string): JsonObject => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

type DescribedHost = Pick<AdminHost, 'schemas'>

/** Adds the texts of a member, unless its schema has texts of its own, from a plugin. */
const explained = (name: string, schema: JsonObject, text: MemberText | undefined): JsonObject => ({
  title: text?.title ?? name,
  ...(text !== undefined && { description: text.text, 'x-group': text.group }),
  ...schema,
})

const groups: readonly JsonObject[] = Object.entries(memberGroups).map(([name, title]) => ({ name, title }))

/** Returns the schema of the body: what the operation checks, and the members that something else checks. */
function bodyOf({ params, members, method }: Operation, host: DescribedHost): JsonObject {
  const parameters = jsonSchemaOf(params)
  if (members === undefined) return parameters
  const { schema, texts } = members.describe(host.schemas ?? directorySchemasOf([]))
  const described = jsonSchemaOf(schema)
  const properties: JsonObject = {
    ...(described.properties as JsonObject),
    ...(parameters.properties as JsonObject),
    tags: jsonSchemaOf(tags.schema),
  }
  const requiredOf = ({ required = [] }: JsonObject): readonly string[] => required as string[]
  // A merge patch changes some members, and removes those that are null.
  const required = method === 'PATCH' ? [] : [...new Set([...requiredOf(parameters), ...requiredOf(described)])]
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => !members.without.includes(name))
        .map(([name, member]) => [name, explained(name, member as JsonObject, { ...texts, tags }[name])]),
    ),
    ...(required.length > 0 && { required }),
  }
}

function parametersOf(operation: Operation): readonly JsonObject[] {
  const { path, params, conditional, repeatable } = operation
  const { properties = {}, required = [] } = hasBody(operation) ? {} : jsonSchemaOf(params)
  return [
    ...idsIn(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(properties as JsonObject).map(([name, schema = {}]) => ({
      name,
      in: 'query',
      required: (required as readonly string[]).includes(name),
      schema,
    })),
    ...(conditional ? [header('If-Match', true, 'The ETag of the version that the request changes')] : []),
    ...(repeatable ? [header('Idempotency-Key', false, 'The same request returns the same response for a day')] : []),
  ]
}

function describe(operation: Operation, host: DescribedHost): JsonObject {
  const { id, summary, status, method } = operation
  const schema = hasBody(operation) ? bodyOf(operation, host) : undefined
  const types = method === 'PATCH' ? ['application/merge-patch+json', 'application/json'] : ['application/json']
  return {
    operationId: id,
    summary,
    parameters: parametersOf(operation),
    ...(schema !== undefined && {
      requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) },
    }),
    responses: {
      [status]:
        status === 204
          ? { description: 'Done' }
          : { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } },
      default: problem,
    },
  }
}

/**
 * Describes the operations in OpenAPI 3.1, from the schemas that check their parameters.
 *
 * @param url the absolute URL of the API
 * @param host has the schemas of the entries that the API changes
 */
export function describeApi(url: string, operations: readonly Operation[], host: DescribedHost): JsonObject {
  // A path of a description starts with a slash, and the API itself has none at its end.
  const at = url.lastIndexOf('/')
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const operation of operations) {
    const path = `${url.slice(at)}${operation.path === '/' ? '' : operation.path}`
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, host) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API', version: '1' },
    servers: [{ url: url.slice(0, at) }],
    security: [{ token: [] }],
    paths,
    components,
    // The groups of members (`x-group`), in the order in which a form shows them.
    'x-groups': groups,
  }
}
