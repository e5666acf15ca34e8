// Plugins that the configuration names, with their options: no other part of the server needs a change for them.
import { deviceVerification } from '@grantry/plugins/device-authorization'
import { basic } from '@grantry/testing'
import { expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { pluginNames } from '../../packages/server/src/configuration/named-plugins.ts'
import { startServer } from '../support/patient-server.ts'
import { client, healthy, strong, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const bound = { ...client, clientId: 'bound', dpopBoundAccessTokens: true }
const tv = { clientId: 'tv', public: true, grantTypes: [deviceGrant], scopes: ['api1'] }
const audience = 'https://api1.example.com'

const accept = {
  issuers: [{ issuer: 'https://idp.example.com', jwksUri: 'https://idp.example.com/jwks', scopes: ['api1'] }],
}

const content = {
  ...healthy,
  storage: { driver: 'memory' },
  clients: [client, tv, bound],
  scopes: [{ ...healthy.scopes[0], audience }],
  plugins: [
    { name: 'device-authorization', verificationUri: 'https://$' + '{GRANTRY_TEST_LOGIN}/device', lifetime: 300 },
    { name: 'client-assertion', algorithms: ['ES256'] },
    { name: 'client-metadata', scopes: ['api1'], hosts: [{ host: 'app.example.com', policy: 'allow' }] },
    { name: 'registration', scopes: ['api1'], open: true },
    { name: 'dpop', algorithms: ['ES256'], nonce: true },
    { name: 'mtls', endpointAliases: { token_endpoint: 'https://mtls.example.com/connect/token' } },
    { name: 'fapi2' },
    { name: 'id-jag', accept },
    { name: 'resource-indicators' },
    { name: 'jwt-introspection' },
    { name: 'workload-identity', issuers: [{ platform: 'github', algorithms: ['ES256'] }] },
    { name: 'sign-in', pages: { name: 'Example' } },
  ],
  console: true,
}

test('plugins work with their options, and are in the discovery document, the console and the banner', async () => {
  const { file } = written(content)
  const loaded = await loadConfiguration(file, { GRANTRY_TEST_LOGIN: 'login.example.com' })
  const server = await startServer({ loaded, port: 0, observe: () => {} })
  try {
    const send = (path: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${server.running.port}${path}`, init).then((response) => response.json())
    const form = (fields: Record<string, string>, headers: Record<string, string> = {}): RequestInit => ({
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    })

    expect(await send('/.well-known/openid-configuration')).toMatchObject({
      authorization_endpoint: `${healthy.issuer}/connect/authorize`,
      device_authorization_endpoint: `${healthy.issuer}/connect/deviceauthorization`,
      grant_types_supported: expect.arrayContaining([deviceGrant]),
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
      introspection_signing_alg_values_supported: ['ES256'],
      dpop_signing_alg_values_supported: ['ES256'],
      mtls_endpoint_aliases: { token_endpoint: 'https://mtls.example.com/connect/token' },
    })

    const device = await send('/connect/deviceauthorization', form({ client_id: 'tv', scope: 'api1' }))
    expect(device).toMatchObject({ verification_uri: 'https://login.example.com/device', expires_in: 300 })
    const ask = { grant_type: 'client_credentials', scope: 'api1', resource: 'https://unknown.example.com' }
    const refused = await send('/connect/token', form(ask, { authorization: basic(['web', strong('web')]) }))
    expect(refused).toMatchObject({ error: 'invalid_target' })
    const unproved = { grant_type: 'client_credentials', scope: 'api1' }
    expect(await send('/connect/token', form(unproved, { authorization: basic(['bound', strong('web')]) }))).toEqual({
      error: 'invalid_request',
      error_description: 'A DPoP proof is required',
    })

    const setup = await send('/console/setup.json')
    expect(setup.paths).toHaveProperty('deviceAuthorization', '/connect/deviceauthorization')
    const grants: readonly { readonly grantType: string; readonly fields: readonly object[] }[] = setup.grants
    const fieldsOf = (grantType: string) => grants.find((grant) => grant.grantType === grantType)?.fields
    const resource = { name: 'resource', required: false }
    expect(fieldsOf(deviceGrant)).toEqual([{ name: 'device_code', required: true }, resource])
    expect(fieldsOf('client_credentials')).toEqual([resource])
    // The pages of `sign-in` belong to the endpoint that it installs. With `admin`, the console asks for a sign-in first.
    const installed = pluginNames.flatMap((name) => {
      if (name === 'admin') return []
      return name === 'sign-in' ? 'authorization-endpoint' : name
    })
    expect(server.plugins).toEqual(expect.arrayContaining(installed))
  } finally {
    await server.close(0)
  }
})

test('grantry serve starts with each plugin, with the options that it needs', async () => {
  const options = {
    'client-metadata': { scopes: ['api1'] },
    registration: { scopes: ['api1'] },
    'id-jag': { accept },
    'workload-identity': { issuers: [{ platform: 'github' }] },
  }
  const names = pluginNames.filter((name) => name !== 'device-authorization')
  const plugins = names.map((name) => ({ name, ...options[name as 'client-metadata'] }))
  const { file } = written({ ...content, administration: true, clients: [client], plugins })
  expect((await printed('serve', '--port', '0', '--config', file)).code).toBe(0)
})

test('the sign-in has the page for devices, and offers its functions, if verificationUri is left out', async () => {
  const plugins = [{ name: 'sign-in' }, { name: 'device-authorization', lifetime: 300, guesses: { failures: 1 } }]
  const { file } = written({ ...content, clients: [client, tv], console: false, plugins })
  const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
  try {
    const url = (path: string) => `http://127.0.0.1:${server.running.port}${path}`
    const body = new URLSearchParams({ client_id: 'tv', scope: 'api1' })
    const started = await (await fetch(url('/connect/deviceauthorization'), { method: 'POST', body })).json()
    expect(started).toMatchObject({ verification_uri: `${healthy.issuer}/connect/device`, expires_in: 300 })
    const response = await fetch(url('/connect/device'), { redirect: 'manual' })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toMatch(`${healthy.issuer}/connect/authorize?client_id=`)
    const verification = server.provider.use(deviceVerification)
    expect(await verification.find(started.user_code, '192.0.2.1')).toMatchObject({ clientId: 'tv' })
    expect(await verification.find('BCDF-GHJK', '192.0.2.1')).toBeUndefined()
    await expect(verification.find(started.user_code, '192.0.2.1')).rejects.toMatchObject({ code: 'slow_down' })
  } finally {
    await server.close(0)
  }
})

test('without the sign-in, a device authorization needs verificationUri', async () => {
  const { file } = written({
    ...content,
    clients: [client, tv],
    console: false,
    plugins: [{ name: 'device-authorization' }],
  })
  const loaded = await loadConfiguration(file, {})
  await expect(startServer({ loaded, port: 0, observe: () => {} })).rejects.toThrow(
    'plugins[0] ("device-authorization").verificationUri is required without the plugin sign-in',
  )
})
