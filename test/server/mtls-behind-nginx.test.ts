// Mutual TLS as a user has it: openid-client, nginx that terminates TLS, and the ready server behind it.
import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'
import { certificate, commonName } from '../mtls/certificates.ts'
import { current, fetchWith, signedByRoot } from '../mtls/https.ts'
import { freePort } from '../support/free-port.ts'
import { healthy, client as secretClient, strong, written } from './doctor/configurations.ts'
import { describeWithNginx, startNginx } from './nginx.ts'

const own = signedByRoot({ subject: commonName('payments') })
const other = signedByRoot({ subject: commonName('other') })
const bound = { tlsClientCertificateBoundAccessTokens: true }
const common = { grantTypes: ['client_credentials'], scopes: ['api1'] }

let issuer = ''
let server: GrantryServer
let stopNginx: () => Promise<void>

async function start(): Promise<void> {
  const port = await freePort()
  issuer = `https://127.0.0.1:${port}`
  const { file, directory } = written({
    ...healthy,
    issuer,
    storage: { driver: 'memory' },
    clients: [
      { ...secretClient, ...bound },
      { ...common, ...bound, clientId: 'payments', tlsClientAuthSubjectDn: 'CN=payments' },
      {
        ...common,
        clientId: 'self-signed',
        tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
        jwks: { keys: [own.jwk] },
      },
    ],
    plugins: [{ name: 'mtls', endpointAliases: { token_endpoint: `${issuer}/connect/token` } }],
    clientCertificate: { header: 'X-Client-Cert', format: 'pem', proxies: ['127.0.0.1'], verified: true },
  })
  server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
  stopNginx = await startNginx(directory, port, server.running.port)
}

const discover = (clientId: string, authentication: client.ClientAuth, own: Parameters<typeof fetchWith>[0]) =>
  client.discovery(new URL(issuer), clientId, { use_mtls_endpoint_aliases: true }, authentication, {
    [client.customFetch]: fetchWith(own) as client.CustomFetch,
  })

describeWithNginx('openid-client with the ready server behind nginx', () => {
  beforeAll(start)
  afterAll(async () => {
    await stopNginx?.()
    await server?.close(0)
  })

  const scope = { scope: 'api1' }

  test.each([
    ['tls_client_auth', 'payments'],
    ['self_signed_tls_client_auth', 'self-signed'],
  ])('authenticates with %s', async (_, clientId) => {
    const config = await discover(clientId, client.TlsClientAuth(), own)
    expect(config.serverMetadata()).toMatchObject({
      tls_client_certificate_bound_access_tokens: true,
      mtls_endpoint_aliases: { token_endpoint: `${issuer}/connect/token` },
    })
    const { access_token: token } = await client.clientCredentialsGrant(config, scope)
    const { claims } = await server.provider.inspect(token)
    expect(claims).toMatchObject({ client_id: clientId })
  })

  test('binds the tokens of a client with a secret', async () => {
    const config = await discover('web', client.ClientSecretBasic(strong('web')), own)
    const { access_token: token } = await client.clientCredentialsGrant(config, scope)
    expect((await server.provider.inspect(token)).claims).toMatchObject({ cnf: { 'x5t#S256': own.thumbprint } })
    const without = await discover('web', client.ClientSecretBasic(strong('web')), undefined)
    await expect(client.clientCredentialsGrant(without, scope)).rejects.toMatchObject({ error: 'invalid_request' })
  })

  test.each([
    ['another certificate of the authority', other],
    ['no certificate', undefined],
  ])('refuses %s', async (_, presented) => {
    const config = await discover('payments', client.TlsClientAuth(), presented)
    await expect(client.clientCredentialsGrant(config, scope)).rejects.toMatchObject({ status: 401 })
  })

  test('nginx refuses a certificate of another authority, and replaces the header of a client', async () => {
    const forged = certificate({ subject: commonName('payments'), ...current })
    const form = { ...scope, grant_type: 'client_credentials', client_id: 'payments' }
    const send = (own: Parameters<typeof fetchWith>[0], headers: Record<string, string>) =>
      fetchWith(own)(`${issuer}/connect/token`, { method: 'POST', headers, body: new URLSearchParams(form) })
    expect((await send(forged, {})).status).toBe(400)
    expect((await send(undefined, { 'x-client-cert': encodeURIComponent(own.pem) })).status).toBe(401)
    expect((await send(own, {})).status).toBe(200)
  })
})
