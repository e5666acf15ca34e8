// Clients that have described themselves: their libraries do not ask for `offline_access`, and their processes share one
// refresh token in a file.
import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, resource, setUp } from './parties.ts'

type Parties = Awaited<ReturnType<typeof setUp>>

/** What an SDK asks for that has only read the metadata of the resource. */
async function signIn(f: Parties, scope = 'mcp:tools') {
  const { code } = await f.authorize({ scope })
  return (await f.redeem(code)).body
}

const refresh = (f: Parties, refresh_token: string, more: Readonly<Record<string, string>> = {}) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token, client_id: clientId, resource, ...more })

describe('a client with a document', () => {
  test.each([
    ['the scope of the resource', 'mcp:tools'],
    ['no scope', ''],
    ['offline_access', 'mcp:tools offline_access'],
  ])('3.108 gets a refresh token when it asks for %s', async (_, scope) => {
    const f = await setUp()
    const tokens = await signIn(f, scope)
    expect(tokens.scope).toBe('mcp:tools offline_access')
    expect((await refresh(f, tokens.refresh_token)).status).toBe(200)
  })

  test('3.108 also if neither the operator nor the document names offline_access', async () => {
    const hosts = createHosts({ [clientId]: { body: { ...document, scope: 'mcp:tools' } } })
    const tokens = await signIn(await setUp(hosts, { scopes: ['mcp:tools'] }))
    expect(tokens.refresh_token).toEqual(expect.any(String))
  })

  test('3.108 not together with openid, without the grant type, or if the operator does not want it', async () => {
    expect((await signIn(await setUp(), 'openid mcp:tools')).refresh_token).toBeUndefined()
    const codeOnly = createHosts({ [clientId]: { body: { ...document, grant_types: ['authorization_code'] } } })
    expect((await signIn(await setUp(codeOnly))).refresh_token).toBeUndefined()
    const never = await setUp(createHosts(), { refreshToken: { unasked: 'never' } })
    expect((await signIn(never)).refresh_token).toBeUndefined()
  })

  test('3.108 a scope of another resource does not become a grant of offline_access alone', async () => {
    const f = await setUp(
      createHosts(),
      { scopes: ['mcp:tools', 'mail'] },
      {
        scopes: [
          { name: 'mcp:tools', audience: resource },
          { name: 'mail', audience: 'https://mail.example.com' },
        ],
      },
    )
    const { code } = await f.authorize({ scope: 'mail' })
    expect([code, f.failures()]).toEqual([undefined, ['audience_not_allowed']])
  })

  test('3.106 two processes refresh with one token, and later one of them with an old one', async () => {
    const f = await setUp()
    const { refresh_token: first } = await signIn(f)
    const second = (await refresh(f, first)).body
    f.clock.advance(1799)
    expect((await refresh(f, first)).body.refresh_token).toBe(second.refresh_token)
    f.clock.advance(1)
    expect((await refresh(f, first)).body.error).toBe('invalid_grant')
    expect(f.events.filter(({ type }) => type === 'refresh_outdated')).toHaveLength(1)
    expect((await refresh(f, second.refresh_token)).status).toBe(200)
  })

  test('3.106 the operator can restore the strict rule', async () => {
    const f = await setUp(createHosts(), { refreshToken: { gracePeriod: 0 } })
    const { refresh_token: first } = await signIn(f)
    const second = (await refresh(f, first)).body
    f.clock.advance(11)
    for (const token of [first, second.refresh_token]) expect((await refresh(f, token)).status).toBe(400)
  })

  test.each([
    [{ gracePeriod: 3601 }, /refreshToken\.gracePeriod must be 0 to 3600 seconds/u],
    [{ unasked: 'yes' }, /refreshToken\.unasked must be "never", "without_openid" or "always"/u],
    [{ usage: 'reuse' }, /refreshToken\.usage/u],
  ])('3.106 the option %j is refused at start', async (refreshToken, message) => {
    await expect(setUp(createHosts(), { refreshToken } as never)).rejects.toThrow(message)
  })
})
