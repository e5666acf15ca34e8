import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { mtls } from '@grantry/plugins/mtls'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'
import { start } from './parties.ts'

const host = 'https://mtls.example.com'
const alias = (name: string) => ({ endpointAliases: { [name]: `${host}/connect` } })

describe('endpointAliases', () => {
  test('16.1 are in the discovery document', async () => {
    const { provider } = await start([], alias('token_endpoint'))
    expect(provider.metadata).toMatchObject({
      mtls_endpoint_aliases: { token_endpoint: `${host}/connect` },
      tls_client_certificate_bound_access_tokens: true,
    })
  })

  test('can name the endpoint of a plugin', async () => {
    const device = deviceAuthorization({ verificationUri: 'https://id.example.com/device' })
    const aliases = alias('device_authorization_endpoint')
    await expect(fixture({ plugins: [builtInPlugins, device, mtls(aliases)] })).resolves.toBeDefined()
    await expect(fixture({ plugins: [builtInPlugins, mtls(aliases)] })).rejects.toThrow(
      'plugins: mtls_endpoint_aliases names device_authorization_endpoint, which is not an endpoint in the discovery document',
    )
  })

  test.each([
    ['tokn_endpoint', 'token_endpoint'],
    ['introspect_endpoint', 'introspection_endpoint'],
    ['user_info_endpoint', 'userinfo_endpoint'],
  ])('16.2 of the unknown endpoint %s are refused at startup, with the closest name', async (name, closest) => {
    await expect(start([], alias(name))).rejects.toThrow(
      `plugins: mtls_endpoint_aliases names ${name}, which is not an endpoint in the discovery document; did you mean ${closest}?`,
    )
  })

  test('of an endpoint that resembles none are refused with the known names', async () => {
    await expect(start([], alias('x_endpoint'))).rejects.toThrow(/; there are .*token_endpoint, .*revocation_endpoint/u)
  })

  test('16.2 of a disabled endpoint are refused', async () => {
    const started = start([], alias('revocation_endpoint'), { endpoints: { revocation: false } })
    await expect(started).rejects.toThrow('names revocation_endpoint, which is not an endpoint')
  })

  test.each(['authorization_endpoint', 'token'])('of %s are refused by the schema', (name) => {
    expect(() => mtls(alias(name))).toThrow('must be the name of an endpoint that clients call')
  })
})
