import type { ClientOptions } from '@grantry/core'
import type { Credentials } from '@grantry/testing'
import { expect } from 'vitest'
import { tokenOfAlice } from '../support/access-token.ts'
import { clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

/** What a test expects of an endpoint that validates access tokens. The functions below end a token in different ways. */
export interface Verdict {
  /** The scope of the tokens. */
  readonly scope: string
  /** Expects that the endpoint accepts the token. */
  accepted(f: Fixture, token: string): Promise<void>
  /** Expects that the endpoint refuses the token, and reports this reason. */
  refused(f: Fixture, token: string, reason: string): Promise<void>
}

type Ending = (verdict: Verdict, client: Credentials) => Promise<void>

export const expiry: Ending = async ({ scope, accepted, refused }, client) => {
  const f = await fixture()
  const token = await tokenOfAlice(f, client, scope)
  f.clock.advance(3599)
  await accepted(f, token)
  f.clock.advance(1)
  await refused(f, token, 'token_unknown')
}

export const revokedFamily: Ending = async ({ accepted, refused }, client) => {
  const f = await fixture()
  const code = await f.code({ clientId: client[0] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const token = (await f.post('token', form, client)).body.access_token
  await accepted(f, token)
  expect((await f.post('token', form, client)).body.error).toBe('invalid_grant')
  await refused(f, token, 'family_revoked')
}

export const lostClient: Ending = async ({ scope, accepted, refused }, client) => {
  const table = new Map<string, ClientOptions>(clients.map((known) => [known.clientId, known]))
  const f = await fixture({ clients: { find: (id) => table.get(id) } })
  const token = await tokenOfAlice(f, client, scope)
  await accepted(f, token)
  table.set(client[0], { ...(table.get(client[0]) as ClientOptions), enabled: false })
  await refused(f, token, 'client_disabled')
  table.delete(client[0])
  await refused(f, token, 'client_disabled')
}

export const inactiveUser: Ending = async ({ scope, accepted, refused }, client) => {
  const f = await fixture()
  const token = await tokenOfAlice(f, client, scope)
  Object.assign(f.users.alice ?? {}, { active: false })
  await refused(f, token, 'user_inactive')
  Object.assign(f.users.alice ?? {}, { active: true })
  await accepted(f, token)
}

export const alteration: Ending = async ({ scope, refused }, client) => {
  const f = await fixture()
  const token = await tokenOfAlice(f, client, scope)
  const middle = token.length >> 1
  const changed = token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1)
  for (const altered of [changed, token.slice(0, -1), `${token}A`, `${token}.`])
    await refused(f, altered, 'token_unknown')
}

/** Codes, refresh tokens and identity tokens are not access tokens. */
export const otherCredentials = async ({ refused }: Verdict): Promise<void> => {
  const f = await fixture()
  await refused(f, await f.code(), 'token_unknown')
  const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
  const { refresh_token, id_token } = (await f.post('token', form, web)).body
  await refused(f, refresh_token, 'token_unknown')
  await refused(f, id_token, 'token_unknown')
}
