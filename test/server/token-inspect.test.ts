import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { base, directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'
import { root } from './running-command.ts'
import { run } from './running-program.ts'

describe('grantry token inspect', () => {
  test('tells of each kind what it is, what it says and whether it counts, and never repeats it', async () => {
    const path = file(directories())
    const { login, refresh } = await serve(path)
    const { access_token: jwt } = await login('web-jwt')
    const { access_token: reference, refresh_token: rotated } = await login()
    await refresh(rotated)
    const inspect = async (token: string) => (await printed('token', 'inspect', '--config', path, '--', token)).out
    const told = [await inspect(jwt), await inspect(reference), await inspect(rotated), await inspect('made-up')]
    expect(told[0]).toMatch(/^access token, a JWT; valid now\n/u)
    expect(told[1]).toMatch(/^access token, a reference into the store; valid now\n/u)
    expect(told[2]).toMatch(/^refresh token, a reference into the store; not valid: it was used already\n/u)
    expect(told[3]).toBe(
      'unknown; not valid: nobody knows it: it was never issued here, has ended long ago, or was revoked\n',
    )
    for (const text of told.slice(0, 3)) {
      expect(text).toMatch(/\n {2}sub {11}1 {3}# whom it is about: the user, or without auth_time the client itself\n/u)
      expect(text).toMatch(/\n {2}exp {11}\d{4}-\d\d-\d\dT[\d:.]+Z \(in \d+ (?:min|h|days)\) {3}# when it ends\n/u)
      for (const token of [jwt, reference, rotated]) expect(text).not.toContain(token)
    }
    await printed('revoke', '--subject', '1', '--config', path)
    expect(await inspect(jwt)).toContain('not valid: everything of its user was revoked after it began')
  }, 60_000)

  test('reads the token from standard input, where no other user sees it', async () => {
    const path = file(directories())
    const { login } = await serve(path)
    const { access_token } = await login('web-jwt')
    const { code, out } = await run(['token', 'inspect', '-', '--config', path], root, { input: `${access_token}\n` })
    expect([code, out]).toEqual([0, expect.stringMatching(/^access token, a JWT; valid now\n/u)])
    const empty = await run(['token', 'inspect', '-', '--config', path], root, { input: '\n' })
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('grantry: the token is empty')])
  }, 60_000)

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwt = `${part({ alg: 'none' })}.${part({ sub: 'x\u001B[2J', name: 'a\u202Eb', exp: 1 })}.x`

  test('with the storage out of reach says so plainly, and what the JWT says of itself', async () => {
    const path = file({ driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 })
    const { code, out } = await printed('token', 'inspect', jwt, '--config', path)
    expect(code).toBe(0)
    expect(out).toMatch(/^A JWT; nobody has checked its signature or whether it was revoked: [^\n]*storage/u)
    expect(out).toContain('1970-01-01T00:00:01.000Z')
    for (const obeyed of ['\u001B', '\u202E']) expect(out).not.toContain(obeyed)
    expect((await printed('token', 'inspect', 'abc', '--config', path)).out).toMatch(
      /^Not a JWT, so only the store could tell/u,
    )
  })

  test('that begins with a dash is a token all the same, and is not repeated', async () => {
    for (const token of ['-Yg6VJ0mYtyBLo', '--Yg6VJ0mYtyBLo']) {
      const { out, err } = await printed('token', 'inspect', token, '--config', file(directories()))
      expect([out, err]).toEqual([expect.stringMatching(/^unknown; not valid/u), ''])
    }
  })

  test('neither believes names that every object has, nor lets a claim turn the text of the terminal round', async () => {
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

  test('with a configuration that is not there ends with 1', async () => {
    expect((await printed('token', 'inspect', jwt, '--config', join(base, 'nowhere.json'))).code).toBe(1)
  })
})
