import { basic, type Credentials, read, type TestResponse } from '@grantry/testing'
import type { KeyHolder } from '../dpop/dpop.ts'
import type { Fixture } from '../support/fixture.ts'

export interface Proving {
  readonly as?: Credentials | undefined
  readonly key?: KeyHolder | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

const issuer = 'https://id.example.com'

/** Sends a form to an endpoint with a proof of the key. */
export async function sendForm(
  { provider, clock }: Fixture,
  path: string,
  form: Readonly<Record<string, string>>,
  { as, key, headers = {} }: Proving,
): Promise<TestResponse> {
  const url = `${issuer}${path}`
  const proof = await key?.proof({ method: 'POST', url, at: clock.now() })
  const request = new Request(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: {
      ...(as !== undefined && { authorization: basic(as) }),
      ...(proof !== undefined && { dpop: proof }),
      ...headers,
    },
  })
  return read(await provider.fetch(request))
}

export const requestTokens = (f: Fixture, form: Readonly<Record<string, string>>, proving: Proving) =>
  sendForm(f, '/connect/token', form, proving)

/** Calls the userinfo endpoint with a proof of the key. */
export async function callUserinfo(
  { provider, clock }: Fixture,
  token: string,
  { scheme = 'DPoP', key, headers = {} }: Omit<Proving, 'as'> & { readonly scheme?: string },
): Promise<TestResponse> {
  const url = `${issuer}/connect/userinfo`
  const proof = await key?.proof({ method: 'GET', url, token, at: clock.now() })
  const sent = { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }), ...headers }
  return read(await provider.fetch(new Request(url, { headers: sent })))
}
