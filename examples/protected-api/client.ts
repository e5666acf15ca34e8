import * as oauth from 'oauth4webapi'
import { issuer } from '../provider.ts'

// A client without a shared secret: it signs an assertion to get a token (private_key_jwt), and a DPoP proof for each
// request.

const importKey = (jwk: JsonWebKey) =>
  crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])

// The private key of the demo. A program of your own keeps its key in a secret store.
const clientKey = await importKey({
  kty: 'EC',
  crv: 'P-256',
  x: 'WxtApTrOucgey8TW-34v2G9HkJDym49nyHrNoHirmbw',
  y: 'J4_sMon_jCgjNJQ8xfvjzOc1bnpyLZtMFDQ6Va6noYM',
  d: 'LH4mssHMRWYUbmej860x0KfiroIHvlFyDoaRxDVOpQ0',
})

// Only for http on this machine.
const insecure = { [oauth.allowInsecureRequests]: true }
const client: oauth.Client = { client_id: 'robot' }
const url = new URL(issuer)
const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure))

const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))

async function readOrders(scope: string): Promise<string> {
  const authentication = oauth.PrivateKeyJwt(clientKey)
  const options = { ...insecure, DPoP }
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, { scope }, options)
  const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response)
  const orders = new URL('/orders', issuer)
  return (await oauth.protectedResourceRequest(token, 'GET', orders, undefined, null, options)).text()
}

console.log(await readOrders('orders:read'))
await readOrders('orders:delete').catch((error: unknown) => {
  if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error
  console.log(error.status, error.cause[0]?.parameters.error)
})
