import { defineEndpoint, defineFields, definePlugin, type Endpoint, type ProviderOptions } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

const good = defineEndpoint({
  name: 'device',
  path: '/connect/device',
  metadataName: 'device_endpoint',
  methods: ['POST'],
  caller: 'client',
  params: v.object({ scope: v.optional(v.string()) }),
  handle: () => ({ json: null }),
})

const plugin = (more: object, name = 'device') => definePlugin(name, [{ ...good, ...more } as Endpoint])

const start = (plugins: ProviderOptions['plugins'], options: Partial<ProviderOptions> = {}) =>
  fixture({ plugins, clients: [], ...options })

test('a complete endpoint starts', async () => {
  const { provider } = await start(plugin({}))
  expect(provider.paths.device).toBe('/connect/device')
})

describe('a malformed endpoint', () => {
  test.each<[string, object, string]>([
    [
      'a name with a hyphen',
      { name: 'my-device' },
      'the endpoint my-device of device: name must be letters and digits',
    ],
    ['an upper-case name', { name: 'Device' }, 'the endpoint Device of device: name must be letters'],
    ['a name that is too long', { name: 'a'.repeat(51) }, 'name must be letters'],
    ['no name', { name: undefined }, 'the endpoint of device: name must be letters'],
    ['the name of an object member', { name: 'constructor' }, 'the endpoint constructor of device: name is reserved'],
    ['the name of unknown paths', { name: 'unknown' }, 'the endpoint unknown of device: name is reserved'],
    ['the name of a function of the provider', { name: 'revoke' }, 'the endpoint revoke of device: name is reserved'],
    [
      'a relative path',
      { path: 'connect/device' },
      'the endpoint device of device: path must be a path such as /connect/device',
    ],
    ['a path with a query', { path: '/connect/device?a=b' }, 'path must be a path'],
    ['a path with dots', { path: '/connect/../device' }, 'path must be a path'],
    ['an absolute URL', { path: 'https://id.example.com/device' }, 'path must be a path'],
    [
      'a member without the suffix',
      { metadataName: 'issuer' },
      'metadataName must be a name that ends with _endpoint or _uri',
    ],
    ['no methods', { methods: [] }, "methods must be an array such as ['POST']"],
    ['a method as a string', { methods: 'POST' }, "methods must be an array such as ['POST']"],
    ['an unknown method', { methods: ['TRACE'] }, 'methods[0] must be one of GET, POST, PUT, PATCH, DELETE'],
    ['an unknown body', { body: 'xml' }, 'body must be one of form, json'],
    ['an unknown caller', { caller: 'user' }, 'caller must be one of client, scope, token, anyone'],
    ['no caller', { caller: undefined }, 'caller must be one of client, scope, token, anyone'],
    ['an unknown CORS policy', { cors: '*' }, 'cors must be one of none, clients, public'],
    ['a flag that is not a boolean', { guessable: 'yes' }, 'guessable must be true or false'],
    ['no handle', { handle: undefined }, 'handle must be a function'],
    [
      'params that are not a schema',
      { params: { scope: v.string() } },
      'params must be a Standard Schema, such as v.object()',
    ],
    ['a JSON body without params', { body: 'json', params: undefined }, 'has the body json and requires params'],
    ['the caller token without a scope', { caller: 'token' }, 'requires scope, which belongs to the caller token'],
    ['another caller with a scope', { scope: 'api1' }, 'cannot have scope, which belongs to the caller token'],
    [
      'the secret in params',
      { params: v.object({ client_secret: v.string() }) },
      'cannot have client_secret in params',
    ],
    [
      'the token in params',
      { caller: 'token', scope: 'api1', params: v.object({ access_token: v.string() }) },
      'cannot have access_token in params',
    ],
  ])('with %s is refused', async (_, more, message) => {
    await expect(start(plugin(more))).rejects.toThrow(TypeError)
    await expect(start(plugin(more))).rejects.toThrow(message)
  })
})

describe('two endpoints', () => {
  const conflict = (first: object, second: object) => start([plugin(first, 'first'), plugin(second, 'second')])
  const different = { name: 'other', path: '/other', metadataName: undefined }

  test('cannot have one name', async () => {
    await expect(conflict({}, { ...different, name: 'device' })).rejects.toThrow(
      'plugins: first and second both provide the endpoint device; remove one of them',
    )
  })

  test('cannot have one path, also when one is moved to it', async () => {
    await expect(conflict({}, { ...different, path: '/connect/device' })).rejects.toThrow(
      'endpoints: device of the plugin first and other of the plugin second have the same path /connect/device',
    )
    const endpoints = { token: '/connect/device' } as const
    await expect(start(plugin({}), { endpoints })).rejects.toThrow(
      'endpoints: token and device of the plugin device have the same path /connect/device',
    )
  })

  test('cannot have one member of the discovery document', async () => {
    await expect(conflict({}, { ...different, metadataName: 'device_endpoint' })).rejects.toThrow(
      'plugins: first and second both provide the discovery member device_endpoint; remove one of them',
    )
  })

  test('can have one path if one of them is disabled', async () => {
    const endpoints = { device: false } as object
    const plugins = [plugin({}, 'first'), plugin({ ...different, path: '/connect/device' }, 'second')]
    const { provider } = await start(plugins, { endpoints })
    expect(provider.paths.other).toBe('/connect/device')
  })
})

describe('a member of the discovery document', () => {
  test('cannot also be set by fields', async () => {
    const fields = definePlugin('policy', [defineFields({ metadata: { op_policy_uri: 'https://example.com/' } })])
    await expect(start([plugin({ metadataName: 'op_policy_uri' }), fields])).rejects.toThrow(
      'plugins: device and policy both set op_policy_uri in the discovery document',
    )
  })

  test('cannot also be set by the option authorizationEndpoint', async () => {
    const options = { authorizationEndpoint: 'https://id.example.com/login' }
    await expect(start(plugin({ metadataName: 'authorization_endpoint' }), options)).rejects.toThrow(
      'authorizationEndpoint: device provides the authorization endpoint; remove the option or the plugin',
    )
    const { provider } = await start(plugin({ metadataName: 'authorization_endpoint' }))
    expect(provider.metadata.authorization_endpoint).toBe('https://id.example.com/connect/device')
  })
})

describe('the option endpoints', () => {
  test('knows the endpoints of the installed plugins only', async () => {
    const endpoints = { device: false } as object
    await expect(start([], { endpoints })).rejects.toThrow(
      'createProvider(): endpoints.device is not a known option here; known options: token, identityTokenValidation, ' +
        'userinfo, accessTokenValidation, introspection, revocation, discovery, authorizationServerMetadata, jwks',
    )
    await expect(start(plugin({}), { endpoints: { divice: false } as object })).rejects.toThrow(
      'createProvider(): endpoints.divice is not a known option; did you mean device?',
    )
  })

  test.each([1, 'relative', '/../x', {}])('refuses the value %o for the endpoint of a plugin', async (device) => {
    await expect(start(plugin({}), { endpoints: { device } as object })).rejects.toThrow(
      'createProvider(): endpoints.device must be true, false, or a path such as /oauth/token',
    )
  })
})
