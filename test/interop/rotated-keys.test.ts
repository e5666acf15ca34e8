// How other libraries handle rotated keys: with a cached key list, and with a new request.

import { storedKeys, webRuntime } from '@grantry/core'
import { storeGrant } from '@grantry/testing'
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { clients, redirectUri, webJwt } from '../support/fixture.ts'
import { type RunningProvider, startProvider } from './running-server.ts'

const audience = 'https://api1.example.com'

/** A service that was started seven minutes ago: its next key has been published long enough. */
async function startedEarlier(): Promise<RunningProvider> {
  let offset = -420
  const now = () => webRuntime.now() + offset
  const server = await startProvider('', {
    keys: storedKeys({ algorithms: ['ES256', 'EdDSA'] }),
    clients: clients.map((client) =>
      client.clientId === webJwt[0] ? { ...client, identityTokenAlgorithm: 'EdDSA' } : client,
    ),
    runtime: { now },
  })
  offset = 0
  return server
}

async function tokensOf({ provider, issuer }: RunningProvider): Promise<{ access: string; identity: string }> {
  const subject = { sub: '1', amr: ['pwd'] }
  const scopes = ['openid', 'api1']
  const code = await storeGrant(provider, { kind: 'code', clientId: webJwt[0], redirectUri, scopes, subject })
  const [client_id, client_secret] = webJwt
  const response = await fetch(`${issuer}/connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id,
      client_secret,
    }),
  })
  const { access_token, id_token } = (await response.json()) as { access_token: string; id_token: string }
  return { access: access_token, identity: id_token }
}

test('jose verifies tokens from before and after a rotation with its cached list, and requests it again after a forced one', async () => {
  const server = await startedEarlier()
  try {
    let fetches = 0
    const keys = createRemoteJWKSet(new URL(`${server.issuer}/.well-known/jwks`), {
      cooldownDuration: 0,
      [customFetch]: (...args: Parameters<typeof fetch>) => {
        fetches += 1
        return fetch(...args)
      },
    })
    const verify = async ({ access, identity }: { access: string; identity: string }): Promise<void> => {
      await jwtVerify(access, keys, { issuer: server.issuer, audience, algorithms: ['ES256'] })
      await jwtVerify(identity, keys, { issuer: server.issuer, audience: webJwt[0], algorithms: ['EdDSA'] })
    }
    const before = await tokensOf(server)
    await verify(before)
    await server.provider.keys.rotate()
    const after = await tokensOf(server)
    await verify(after)
    expect(fetches).toBe(1)
    await server.provider.keys.rotate({ force: true })
    await verify(await tokensOf(server))
    expect(fetches).toBe(2)
    // With the new list too: it contains the retired keys.
    await verify(before)
    await verify(after)
  } finally {
    await server.close()
  }
})

test('oauth4webapi accepts access tokens from before and after a rotation', async () => {
  const server = await startedEarlier()
  try {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const issuer = new URL(server.issuer)
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
    expect(as.id_token_signing_alg_values_supported).toEqual(['ES256', 'EdDSA'])
    const accepted = async (token: string) => {
      const request = new Request('https://api1.example.com/', { headers: { authorization: `Bearer ${token}` } })
      return (await oauth.validateJwtAccessToken(as, request, audience, insecure)).sub
    }
    const before = await tokensOf(server)
    await server.provider.keys.rotate()
    const after = await tokensOf(server)
    expect([await accepted(before.access), await accepted(after.access)]).toEqual(['1', '1'])
  } finally {
    await server.close()
  }
})
