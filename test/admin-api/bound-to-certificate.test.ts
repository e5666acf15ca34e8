// Tokens of administrators that are bound to a client certificate (RFC 8705 section 3).
import { mtls } from '@grantry/plugins/mtls'
import { basic, read } from '@grantry/testing'
import { expect, test } from 'vitest'
import { certificate } from '../mtls/certificates.ts'
import { presented, tokenUrl } from '../mtls/parties.ts'
import { web } from '../support/fixture.ts'
import { batch, issuer, setting } from './setting.ts'

test('a token that is bound to a certificate administrates with this certificate only', async () => {
  const { provider, trail } = await setting({
    plugins: mtls(),
    client: { tlsClientCertificateBoundAccessTokens: true },
  })
  const bound = certificate()
  const ask = {
    method: 'POST',
    headers: { authorization: basic(['ops', web[1]]) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'admin' }),
  }
  const issued = await read(await provider.fetch(new Request(tokenUrl, ask), { clientCertificate: presented(bound) }))
  expect(issued.status).toBe(200)
  const add = async (clientCertificate: ReturnType<typeof presented> | undefined) => {
    const headers = { authorization: `Bearer ${issued.body.access_token}`, 'content-type': 'application/json' }
    const request = new Request(`${issuer}/admin/v1/clients`, { method: 'POST', headers, body: JSON.stringify(batch) })
    return (await provider.fetch(request, { clientCertificate })).status
  }
  expect(await add(undefined)).toBe(401)
  expect(await add(presented(certificate()))).toBe(401)
  // The hash of the certificate counts, not its key.
  expect(await add(presented(certificate({ sameKeyAs: bound })))).toBe(401)
  expect(await trail()).toEqual([])
  expect(await add(presented(bound))).toBe(201)
  // Without a certificate, the client gets no token that would work everywhere.
  expect(
    (
      await provider.fetch(
        new Request(tokenUrl, {
          ...ask,
          body: String(ask.body),
          headers: { ...ask.headers, 'content-type': 'application/x-www-form-urlencoded' },
        }),
      )
    ).status,
  ).toBe(400)
})
