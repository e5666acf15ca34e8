import { dpop } from '@grantry/plugins/dpop'
import { mtls } from '@grantry/plugins/mtls'
import { expect, test } from 'vitest'
import { builtInPlugins } from '../support/fixture.ts'
import { holder, proveUse, request, start, use } from './parties.ts'

const alias = 'https://mtls.example.com'
const endpointAliases = {
  token_endpoint: `${alias}/connect/token`,
  userinfo_endpoint: `${alias}/connect/userinfo`,
  revocation_endpoint: `${alias}/connect/revocation`,
}
const startWithAliases = () => start({}, { plugins: [builtInPlugins, dpop(), mtls({ endpointAliases })] })

test('15.9 a proof for the alias of an endpoint is accepted (RFC 8705 section 5)', async () => {
  const [f, client] = [await startWithAliases(), await holder()]
  const issued = await request(f, await client.prove({ htu: endpointAliases.token_endpoint }))
  expect([issued.status, issued.reason]).toEqual([200, undefined])
  const { access_token: token } = issued.body
  const used = await use(f, token, await proveUse(client, token, { htu: endpointAliases.userinfo_endpoint }))
  expect([used.status, used.reason]).toEqual([200, undefined])
})

test('a proof for the URL of the issuer remains valid next to an alias', async () => {
  const [f, client] = [await startWithAliases(), await holder()]
  expect((await request(f, await client.prove())).status).toBe(200)
})

test.each([
  ['the alias of another endpoint', endpointAliases.revocation_endpoint],
  ['another path of the host of the alias', `${alias}/token`],
  ['another host', 'https://other.example.com/connect/token'],
])('15.9 a proof for %s is refused', async (_, htu) => {
  const [f, client] = [await startWithAliases(), await holder()]
  const { status, body, reason } = await request(f, await client.prove({ htu }))
  expect([status, body.error, reason]).toEqual([400, 'invalid_dpop_proof', 'plugin:dpop:htu_mismatch'])
})
