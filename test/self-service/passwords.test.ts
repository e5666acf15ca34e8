import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { breachedPasswords, passwordProblem } from '@grantry/plugins/self-service'
import { isCommonPassword } from '@grantry/users/common-passwords'
import { describe, expect, onTestFinished, test } from 'vitest'
import { linkIn, setUpAccounts } from './parties.ts'

/** A service for breached passwords. Returns its URL, and the paths of requests. */
async function service(respond: RequestListener) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    respond(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`, paths }
}

// The SHA-1 of `password`: 5BAA6 1E4C9B93F3F0682250B6CF8331B7EE68FD8.
const suffix = '1E4C9B93F3F0682250B6CF8331B7EE68FD8'

describe('common passwords', () => {
  test.each(['password', 'Password', 'PASSWORD123!', 'passwordpassword', 'sunshine2024', 'qwertyuiop', '1234567890'])(
    'contain %j',
    (password) => {
      expect(isCommonPassword(password)).toBe(true)
    },
  )

  test('contain few others', () => {
    const others = Array.from({ length: 20_000 }, (_, index) => `correct horse ${index} battery staple`)
    expect(others.filter(isCommonPassword).length).toBeLessThan(10)
  })
})

describe('the rules of passwords', () => {
  const rules = { least: 12, most: 64 }

  test.each([
    ['eleven char', 'password_short'],
    ['e\u0301'.repeat(11), 'password_short'],
    ['👩‍👩‍👧'.repeat(12), undefined],
    ['x'.repeat(65), 'password_long'],
    ['x'.repeat(100_000), 'password_long'],
    ['            ', 'password_malformed'],
    ['carol@example.com', 'password_personal'],
    ['Carol1234567890!', 'password_personal'],
    ['id.example.com', 'password_personal'],
    ['carol likes long walks', undefined],
    ['no digits and signs', undefined],
  ])('of %j: %s', async (password, problem) => {
    expect(await passwordProblem(password, ['carol', 'carol@example.com', 'id.example.com'], rules)).toBe(problem)
  })
})

describe('the service for breached passwords', () => {
  test('learns five digits of a hash', async () => {
    const { url, paths } = await service((_, response) =>
      response.end(`00D4F6E8FA6EECAD2A3AA415EEC418D38EC:2\r\n${suffix}:9\r\n`),
    )
    expect(await breachedPasswords({ url })('password')).toBe(true)
    expect(await breachedPasswords({ url })('another')).toBe(false)
    expect(paths).toEqual(['/range/5BAA6', expect.stringMatching(/^\/range\/[0-9A-F]{5}$/u)])
  })

  test('adds lines that do not count', async () => {
    const { url } = await service((_, response) => response.end(`${suffix}:0\r\n`))
    expect(await breachedPasswords({ url })('password')).toBe(false)
  })

  test.each([
    ['does not respond', () => {}],
    ['fails', (_: unknown, response: { writeHead(status: number): { end(): void } }) => response.writeHead(500).end()],
  ])('that %s does not keep users from a new password, and is reported', async (_, respond) => {
    const { url } = await service(respond as RequestListener)
    const f = await setUpAccounts({ passwords: { isCommon: breachedPasswords({ url, timeout: 0.05 }) } })
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const page = await submit(await browser.open(linkIn(await f.lastMail())), { password: 'correct horse battery' })
    expect(page.html).toContain('Signed in as alice')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'password_unchecked', by: 'recovery' }))
  })
})
