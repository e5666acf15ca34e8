import { describe, expect, test } from 'vitest'
import { fromHere, testConsole } from './console-handlers.ts'

// The console shows the activity of the server. An attacker could try to open it from another machine, with DNS
// rebinding, or from a page of another site in the browser of the operator.

const paths = ['/console', '/console/main.js', '/console/setup.json', '/console/events']

describe.each(paths)('%s', (path) => {
  test.each(['127.0.0.1', '127.8.9.1', '::1'])('is served to a caller on this machine (%s)', async (clientAddress) => {
    const { get, live } = await testConsole()
    expect((await get(path, {}, { clientAddress })).status).toBe(200)
    live.close()
  })

  test.each(['192.0.2.1', '10.0.0.1', '2001:db8::1', '127.0.0.1.example.com', '::ffff:192.0.2.1', undefined])(
    'is refused to a caller on another machine (%s)',
    async (clientAddress) => {
      const { get } = await testConsole()
      const response = await get(path, {}, { clientAddress })
      expect(response.status).toBe(403)
      expect(await response.text()).toBe(
        'The console is only available from this machine. Use a tunnel, or set console.remote.\n',
      )
    },
  )

  test.each([
    'attacker.example',
    '127.0.0.1.attacker.example',
    'localhost.attacker.example:8484',
    'id.example.com',
    '',
  ])('is refused under a foreign host name to any caller (%j)', async (host) => {
    const { get } = await testConsole()
    expect((await get(path, { host }, fromHere)).status).toBe(403)
  })

  test.each(['127.0.0.1@attacker.example', 'localhost/attacker.example', 'localhost attacker.example', '[::1', '::1'])(
    'is refused under an invalid host (%j)',
    async (host) => {
      const { get } = await testConsole()
      expect((await get(path, { host }, fromHere)).status).toBe(403)
    },
  )

  test.each(['localhost:8484', '[::1]:8484', '127.0.0.1', 'LOCALHOST:8484'])('is served as %s', async (host) => {
    const { get, live } = await testConsole()
    expect((await get(path, { host })).status).toBe(200)
    live.close()
  })

  test.each(['cross-site', 'same-site'])('is refused to a page of another site (%s)', async (site) => {
    const { get } = await testConsole()
    expect((await get(path, { 'sec-fetch-site': site })).status).toBe(403)
  })

  test.each(['same-origin', 'none'])('is served to the page itself and to the address bar (%s)', async (site) => {
    const { get, live } = await testConsole()
    expect((await get(path, { 'sec-fetch-site': site })).status).toBe(200)
    live.close()
  })

  test.each(['https://attacker.example', 'http://127.0.0.1:5001', 'null'])(
    'is refused to the origin %s',
    async (origin) => {
      const { get } = await testConsole()
      expect((await get(path, { origin })).status).toBe(403)
    },
  )

  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])(
    'is refused through a proxy on this machine, which makes every caller look local (%s)',
    async (name) => {
      const { get } = await testConsole()
      expect((await get(path, { [name]: '127.0.0.1' })).status).toBe(403)
    },
  )

  test.each(['POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('rejects %s', async (method) => {
    const { get } = await testConsole()
    const response = await get(path, {}, fromHere, method)
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET')
  })
})

describe('a remote console', () => {
  const elsewhere = { clientAddress: '192.0.2.1' }

  test('is served under the host name of the issuer, also through a proxy', async () => {
    const { get } = await testConsole({ remote: true })
    const headers = { host: 'id.example.com', 'x-forwarded-for': '192.0.2.1' }
    expect((await get('/console', headers, elsewhere)).status).toBe(200)
  })

  test.each(['attacker.example', 'id.example.com.attacker.example'])(
    'is refused under any other host name (%s)',
    async (host) => {
      const { get } = await testConsole({ remote: true })
      expect((await get('/console', { host }, elsewhere)).status).toBe(403)
    },
  )

  test('is refused to another site, too', async () => {
    const { get } = await testConsole({ remote: true })
    expect((await get('/console', { host: 'id.example.com', 'sec-fetch-site': 'cross-site' }, elsewhere)).status).toBe(
      403,
    )
  })
})

test('every response, including refusals, has a policy that allows only the console itself', async () => {
  const { get, paths: all, live } = await testConsole()
  expect(all.length).toBeGreaterThan(20)
  const responses = await Promise.all([
    ...all.map((path) => get(path)),
    get('/console', { host: 'attacker.example' }),
    get('/console', {}, fromHere, 'POST'),
  ])
  for (const { headers } of responses) {
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy.split('; ')).toContain(part)
    }
    // Without a directive of their own, `object-src`, `frame-src` and `worker-src` are those of `default-src`.
    expect(policy).not.toMatch(/unsafe|\*|https?:|object-src|frame-src|worker-src|child-src/u)
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
  live.close()
})
