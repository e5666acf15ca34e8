import type { Credentials } from '@grantry/testing'
import { type Fixture, web, webJwt } from './fixture.ts'

/** The two formats of access tokens, each with a client that gets it. */
export const formats = [
  ['JWT', webJwt],
  ['reference token', web],
] as const

/** Returns an access token of alice. */
export async function tokenOfAlice(f: Fixture, client: Credentials, scope: string): Promise<string> {
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }
  return (await f.post('token', form, client)).body.access_token
}
