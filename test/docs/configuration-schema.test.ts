import { readdirSync, readFileSync } from 'node:fs'
import { isObject } from '@grantry/core'
import { Ajv } from 'ajv'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { configurationTemplate } from '../../packages/server/src/init/template.ts'
import { configurationJsonSchema } from '../../scripts/configuration-schema.ts'
import { codeBlocks, root } from './code-blocks.ts'

const validate = new Ajv({ strict: true, strictTypes: false, allErrors: true }).compile(configurationJsonSchema())

/** Returns the paths and messages of all violations. */
function faults(configuration: unknown): readonly string[] {
  validate(configuration)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const facts = { issuer: 'https://id.example.com', clientHash: 'x', apiHash: 'x' }
const template = parse(configurationTemplate({ ...facts, hasSqlite: true }))
const minimal = { issuer: 'https://id.example.com', clients: [] }
const client = { clientId: 'web' }
const variable = (name: string): string => `$\{${name}}`

describe('the JSON Schema of the configuration', () => {
  const guides = readdirSync(`${root}/docs/guides`).flatMap((name) =>
    codeBlocks(`docs/guides/${name}`)
      .filter(({ language, info }) => language.startsWith('json') && info === 'config')
      .map(({ code }) => [name, code] as const),
  )
  test('there are examples in the guides', () => {
    expect(guides.length).toBeGreaterThan(0)
  })

  test.each(guides)('accepts the example of %s', (_name, code) => {
    expect(faults(parse(code))).toEqual([])
  })

  test('accepts the configuration in deploy/', () => {
    expect(faults(parse(readFileSync(`${root}/deploy/grantry.config.json`, 'utf8')))).toEqual([])
  })

  test('accepts the output of grantry init, which refers to it', () => {
    expect(faults(template)).toEqual([])
    expect(template.$schema).toBe(configurationJsonSchema().$id)
  })

  test('accepts a variable for each number of the server, its keys, storage and users', () => {
    const others = ['clients', 'scopes', 'plugins', 'tenants', 'abuseControl', 'mail']
    const numbers: [path: string, isVariable: boolean][] = []
    const search = (node: unknown, path: string, siblings: unknown): void => {
      if (Array.isArray(node)) for (const item of node) search(item, path, node)
      else if (isObject(node)) {
        const { type } = node as { readonly type?: unknown }
        const isNumber = type === 'number' || type === 'integer'
        if (isNumber) numbers.push([path, JSON.stringify(siblings)?.includes('"string"') === true])
        for (const [name, child] of Object.entries(node)) search(child, `${path}/${name}`, undefined)
      }
    }
    const members = Object.entries(configurationJsonSchema().properties as object)
    for (const [name, schema] of members) if (!others.includes(name)) search(schema, name, undefined)
    expect(numbers.filter(([, isVariable]) => !isVariable).map(([path]) => path)).toEqual([])
    expect(numbers.length).toBeGreaterThan(20)
  })

  test.each<[string, object]>([
    ['the minimum', {}],
    [
      'variables',
      {
        keys: { algorithm: variable('ALGORITHM'), encryptionSecret: variable('SECRET') },
        clients: [{ clientId: variable('ID') }],
      },
    ],
    ['a metrics port', { metrics: { port: 9464 } }],
    ['the console', { console: { remote: true } }],
    ['Redis by Sentinels', { storage: { driver: 'redis', sentinels: [{ host: '10.0.0.1' }], name: 'tokens' } }],
    ['limits', { abuseControl: { validation: false, passwords: { perUser: { failures: 3 } } } }],
    [
      'plugins by path and by name',
      {
        plugins: [
          './badge.mjs',
          { name: 'jwt-introspection' },
          { name: 'device-authorization', verificationUri: 'https://login.example.com/device', lifetime: 300 },
          { name: 'client-assertion', algorithms: ['ES256'], jwksUri: { maxAge: 60 } },
          { name: 'dpop', algorithms: ['ES256'], nonce: true, nonceLifetime: 60, bindRefreshTokens: 'all' },
          { name: 'fapi2', clients: 'marked' },
          {
            name: 'sign-in',
            pages: { name: 'Example', scopes: { api1: 'Call the API', api2: { en: 'Call it', de: 'Rufe sie auf' } } },
            sessions: { idleLifetime: 3600 },
          },
        ],
        clients: [
          { ...client, jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] } },
          { ...client, dpopBoundAccessTokens: true, profile: 'fapi2' },
          {
            ...client,
            clientName: 'Example',
            clientUri: 'https://example.com/',
            defaultMaxAge: 600,
            requirePkce: true,
          },
        ],
      },
    ],
    ['a moved endpoint', { endpoints: { token: '/oauth/token', userinfo: false } }],
  ])('accepts %s', (_what, more) => {
    expect(faults({ ...minimal, ...more })).toEqual([])
  })

  test.each<[string, object, string]>([
    ['at the top', { isuer: 'x' }, ''],
    ['in a client', { clients: [{ ...client, clientSecret: 'x' }] }, '/clients/0'],
    ['in a secret', { clients: [{ ...client, secrets: [{ sha265: 'x' }] }] }, '/clients/0/secrets/0'],
    ['in refreshToken', { clients: [{ ...client, refreshToken: { usge: 'rotate' } }] }, '/clients/0/refreshToken'],
    ['in a scope', { scopes: [{ name: 'api1', claim: [] }] }, '/scopes/0'],
    ['in a user', { users: [{ sub: '1', username: 'a', password: 'x', roles: [] }] }, '/users/0'],
    ['in keys', { keys: { algoritm: 'ES256' } }, '/keys'],
    ['in the storage', { storage: { driver: 'memory', directory: 'x' } }, '/storage'],
    ['in endpoints', { endpoints: { tokens: false } }, '/endpoints'],
    ['in abuseControl', { abuseControl: { passwords: { perUsr: {} } } }, '/abuseControl/passwords'],
    ['in metrics', { metrics: { prt: 1 } }, '/metrics'],
    ['in a plugin', { plugins: [{ name: 'jwt-introspection', key: 'x' }] }, '/plugins/0'],
    ['in a plugin with a function', { plugins: [{ name: 'client-assertion', secretOf: 'x' }] }, '/plugins/0'],
    ['in log', { log: { levl: 'info' } }, '/log'],
  ])('rejects an unknown name %s', (_where, more, path) => {
    expect(faults({ ...minimal, ...more })).toContain(`${path} must NOT have additional properties`)
  })

  test.each<[string, object, string]>([
    ['no clients', { clients: undefined }, " must have required property 'clients'"],
    ['an unknown driver', { storage: { driver: 'mysql' } }, '/storage must match exactly one schema in oneOf'],
    ['text for a flag', { clients: [{ ...client, public: 'no' }] }, '/clients/0/public must be boolean'],
    [
      'a lifetime of zero',
      { clients: [{ ...client, accessTokenLifetime: 0 }] },
      '/clients/0/accessTokenLifetime must be >= 1',
    ],
    ['a tolerance above its limit', { clockTolerance: 61 }, '/clockTolerance must be <= 60'],
    ['an unknown plugin', { plugins: [{ name: 'jwt-bearer' }] }, '/plugins/0 must match a schema in anyOf'],
    [
      'a plugin with a malformed option',
      { plugins: [{ name: 'device-authorization', verificationUri: 1 }] },
      '/plugins/0/verificationUri must be string',
    ],
    [
      'an empty list of nodes',
      { storage: { driver: 'redis', cluster: [] } },
      '/storage/cluster must NOT have fewer than 1 items',
    ],
  ])('rejects %s', (_what, more, fault) => {
    expect(faults(JSON.parse(JSON.stringify({ ...minimal, ...more })))).toContain(fault)
  })

  test('has the comments of options', () => {
    type Described = { readonly description?: string; readonly properties?: Readonly<Record<string, Described>> }
    const { plugins } = configurationJsonSchema().properties as unknown as {
      readonly plugins: { readonly items: { readonly anyOf: readonly Described[] } }
    }
    const optionsOf = (name: string) =>
      plugins.items.anyOf.find(({ properties }) => JSON.stringify(properties?.name) === JSON.stringify({ const: name }))
        ?.properties
    expect(optionsOf('dpop')?.maxAge?.description).toMatch(/^Seconds after iat/u)
    expect(optionsOf('mtls')?.jwksUri?.properties?.maxSize?.description).toBe('Bytes of the response.')
    expect(optionsOf('sign-in')?.sessions?.properties?.maxPerUser?.description).toMatch(/^The sessions that a user/u)
    // A feature of the authorization endpoint has one option of this name, which means something else.
    expect(optionsOf('sign-in')?.providers?.description).toBeUndefined()
  })

  test('takes its descriptions from the guide', () => {
    const { issuer } = configurationJsonSchema().properties as Record<string, { description?: string }>
    expect(issuer?.description).toMatch(/^the URL of this server/u)
  })
})
