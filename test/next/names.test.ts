// Two providers with one name in a process: the second would get the issuer, the keys and the clients of the first.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { handlers } from '../../packages/next/src/index.ts'
import { discovery, forgetProviders, observed } from './observed.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  forgetProviders()
})

describe('another provider', () => {
  test.each(['production', 'development'])('without a name of its own is refused in %s', async (mode) => {
    vi.stubEnv('NODE_ENV', mode)
    const [first, second] = [observed(), observed({ issuer: 'https://site.example.com/other' })]
    const [former, present] = [first.load(), second.load()]
    const results = await Promise.allSettled([former.GET(discovery), present.GET(discovery), former.provider()])
    const problems = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
    // In development, the former could be the module before an edit, so the present one has the name.
    expect(problems).toHaveLength(mode === 'production' ? 1 : 2)
    expect(problems[0]).toMatch(
      /^TypeError: handlers\(\): .* and .* have the name provider; name one of them: handlers\(options, \{ name: 'staff' \}\)$/u,
    )
    expect(problems[0]).toContain('https://site.example.com/other')
  })

  test('is compared without closing a storage that all copies share', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { counted, source } = observed()
    const { storage } = source()
    const load = () => handlers(() => ({ ...source(), storage }))
    await load().GET(discovery)
    expect((await load().GET(discovery)).status).toBe(200)
    expect(counted.closed).toBe(0)
  })

  test('that cannot be compared fails its request, and is compared again', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { load, source } = observed()
    await load().GET(discovery)
    let isAway = true
    const copy = handlers(() => {
      if (isAway) throw new TypeError('no DATABASE_URL')
      return source()
    })
    await expect(copy.GET(discovery)).rejects.toThrow('no DATABASE_URL')
    isAway = false
    expect((await copy.GET(discovery)).status).toBe(200)
  })
})
