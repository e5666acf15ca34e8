import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { base, directories, file, serve } from './operator-server.ts'
import { printed, printedWith } from './printed.ts'

describe('grantry token inspect', () => {
  test('prints the type, claims and validity of each kind of token, and never the token', async () => {
    const path = file(directories())
    const { login, refresh } = await serve(path)
    const { access_token: jwt } = await login('web-jwt')
    const { access_token: reference, refresh_token: rotated } = await login()
    await refresh(rotated)
    const inspect = async (token: string) => (await printed('token', 'inspect', '--config', path, '--', token)).out
    const reported = [await inspect(jwt), await inspect(reference), await inspect(rotated), await inspect('made-up')]
    expect(reported[0]).toMatch(/^access token, a JWT; valid now\n/u)
    expect(reported[1]).toMatch(/^access token, opaque; valid now\n/u)
    expect(reported[2]).toMatch(/^refresh token, opaque; not valid: it has already been used\n/u)
    expect(reported[3]).toBe('unknown; not valid: it is unknown: never issued here, expired long ago, or revoked\n')
    for (const text of reported.slice(0, 3)) {
      expect(text).toMatch(
        /\n {2}sub {11}1 {3}# the subject: the user, or the client itself if there is no auth_time\n/u,
      )
      expect(text).toMatch(/\n {2}exp {11}\d{4}-\d\d-\d\dT[\d:.]+Z \(in \d+ (?:min|h|days)\) {3}# when it expires\n/u)
      for (const token of [jwt, reference, rotated]) expect(text).not.toContain(token)
    }
    await printed('revoke', '--subject', '1', '--config', path)
    expect(await inspect(jwt)).toContain('not valid: everything of its user was revoked after it was issued')
  })

  test('reads the token from standard input, which other users cannot see', async () => {
    const path = file(directories())
    const { login } = await serve(path)
    const { access_token } = await login('web-jwt')
    const { code, out } = await printedWith({ input: `${access_token}\n` }, 'token', 'inspect', '-', '--config', path)
    expect([code, out]).toEqual([0, expect.stringMatching(/^access token, a JWT; valid now\n/u)])
    const empty = await printedWith({ input: '\n' }, 'token', 'inspect', '-', '--config', path)
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('grantry: the token is empty')])
  })

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwt = `${part({ alg: 'none' })}.${part({ sub: 'x\u001B[2J', name: 'a\u202Eb', exp: 1 })}.x`

  test('with an unreachable storage prints the claims of a JWT and a warning', async () => {
    const path = file({ driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 })
    const { code, out } = await printed('token', 'inspect', jwt, '--config', path)
    expect(code).toBe(0)
    expect(out).toMatch(/^A JWT\. Its signature and revocation were not checked: [^\n]*storage/u)
    expect(out).toContain('1970-01-01T00:00:01.000Z')
    for (const obeyed of ['\u001B', '\u202E']) expect(out).not.toContain(obeyed)
    expect((await printed('token', 'inspect', 'abc', '--config', path)).out).toMatch(
      /^Not a JWT\. Only the store knows what it is/u,
    )
  })

  test('accepts a token that starts with a dash, and does not print it', async () => {
    for (const token of ['-Yg6VJ0mYtyBLo', '--Yg6VJ0mYtyBLo']) {
      const { out, err } = await printed('token', 'inspect', token, '--config', file(directories()))
      expect([out, err]).toEqual([expect.stringMatching(/^unknown; not valid/u), ''])
    }
  })

  test('ignores inherited property names, and prints no bidirectional overrides', async () => {
    const claims = {
      constructor: 'x',
      toString: 'y',
      sub: 'nimda\u202E',
      scope: '\u2066a\u2028b\u009B31m',
      '\u200Fiss': 'z',
    }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const hostile = `${part({ alg: 'none' })}.${part(claims)}.x`
    const { out } = await printed('token', 'inspect', hostile, '--config', file(directories()))
    expect(out).toContain('  constructor   x\n')
    expect(out).toContain('  toString      y\n')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  })

  test('with a missing configuration exits with 1', async () => {
    expect((await printed('token', 'inspect', jwt, '--config', join(base, 'nowhere.json'))).code).toBe(1)
  })
})
