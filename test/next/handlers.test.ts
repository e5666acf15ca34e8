// One provider for all copies of the module of a host in one process, opened by the first request.
import { definePlugin, defineTask } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { handlers } from '../../packages/next/src/index.ts'
import { discovery, forgetProviders, issuer, observed } from './observed.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  forgetProviders()
})

describe('handlers()', () => {
  test('opens nothing until the first request, and one provider for many', async () => {
    const { counted, load } = observed()
    const { GET } = load()
    expect(counted).toEqual({ opened: 0, closed: 0 })
    const responses = await Promise.all([GET(discovery), GET(discovery), GET(discovery)])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(counted).toEqual({ opened: 1, closed: 0 })
  })

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
    'passes a request of %s to the provider',
    async (method) => {
      const { [method]: handle } = observed().load()
      const response = await handle(new Request(`${issuer}/nothing`, { method }))
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json'])
    },
  )

  test('responds to the well-known path before the path of the issuer, which a rewrite keeps in the URL', async () => {
    const { GET } = observed().load()
    const response = await GET(new Request('https://site.example.com/.well-known/oauth-authorization-server/id'))
    expect(await response.json()).toMatchObject({ issuer })
  })

  test('does not look at the host of a request, which Next.js replaces', async () => {
    const { GET } = observed().load()
    const response = await GET(new Request('http://localhost:3000/id/.well-known/openid-configuration'))
    expect(await response.json()).toMatchObject({ token_endpoint: `${issuer}/connect/token` })
  })

  test('shares the provider with pages', async () => {
    const { counted, load } = observed()
    const grantry = load()
    expect((await grantry.provider()).issuer).toBe(issuer)
    await grantry.GET(discovery)
    expect(counted.opened).toBe(1)
  })

  test('passes a function that returns the provider of these options, once it exists', async () => {
    const { source } = observed()
    const seen: unknown[] = []
    const { GET } = handlers((provider) => {
      expect(provider).toThrow('handlers(): the provider does not exist until its options are returned')
      return { ...source(), observe: () => void seen.push(provider().issuer) }
    })
    await GET(new Request(`${issuer}/nothing`))
    expect(seen).toContain(issuer)
  })

  test('passes the address of the client', async () => {
    const events: unknown[] = []
    const { load } = observed({ observe: (event) => void events.push(event) })
    const { GET } = load({ clientAddress: ({ headers }) => headers.get('x-real-ip') ?? undefined })
    await GET(new Request(`${issuer}/nothing`, { headers: { 'x-real-ip': '192.0.2.7' } }))
    expect(events).toContainEqual(expect.objectContaining({ clientAddress: '192.0.2.7' }))
  })

  test('keeps providers with different names apart', async () => {
    const first = observed()
    const second = observed({ issuer: 'https://site.example.com/other' })
    const { GET } = first.load()
    const { provider } = second.load({ name: 'other' })
    expect((await GET(discovery)).status).toBe(200)
    expect((await provider()).issuer).toBe('https://site.example.com/other')
    expect(first.counted.closed).toBe(0)
  })
})

describe('a provider that does not open', () => {
  test('fails the request, leaves no storage open, and is tried again', async () => {
    const wrong = vi.fn(() => {})
    let isAway = true
    const { counted, source } = observed()
    const { GET } = handlers(() => {
      const options = source()
      if (!isAway) return options
      const open = async (): Promise<never> => {
        throw new Error('connect ECONNREFUSED')
      }
      return { ...options, storage: { ...options.storage, getItem: open, setItem: open, dispose: wrong } }
    })
    const failed = await Promise.allSettled([GET(discovery), GET(discovery)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(wrong).toHaveBeenCalledTimes(1)
    isAway = false
    expect((await GET(discovery)).status).toBe(200)
    expect(counted.opened).toBe(2)
  })

  test.each([
    [
      'throws',
      () => {
        throw new TypeError('no DATABASE_URL')
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no DATABASE_URL'))],
  ])('says why, if the function of the host %s', async (_how, source) => {
    await expect(handlers(source).GET(discovery)).rejects.toThrow('no DATABASE_URL')
  })
})

describe('another copy of the module', () => {
  test('does not close the provider under a page that has it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { counted, load } = observed()
    const provider = await load().provider()
    await load().GET(discovery)
    expect(counted.closed).toBe(0)
    expect((await provider.fetch(discovery)).status).toBe(200)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(counted.closed).toBe(0)
    await vi.advanceTimersByTimeAsync(1000)
    vi.useRealTimers()
    await expect.poll(() => counted.closed).toBe(1)
  })

  test('in development replaces the provider, which is closed', async () => {
    const { counted, load } = observed()
    const former = load()
    await former.GET(discovery)
    const present = load()
    expect((await present.GET(discovery)).status).toBe(200)
    expect((await former.GET(discovery)).status).toBe(200)
    expect(counted).toEqual({ opened: 2, closed: 1 })
  })

  test('in production uses the provider that is open', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { counted, load, source } = observed()
    const first = load()
    const copy = handlers(() => source())
    await copy.GET(discovery)
    await first.GET(discovery)
    await copy.GET(discovery)
    // The options of the copy are read once, to compare its issuer, and their storage is closed.
    expect(counted).toEqual({ opened: 2, closed: 1 })
  })

  test('does not close the provider under a request', async () => {
    let respond = (): void => {}
    const looked = new Promise<void>((resolve) => (respond = resolve))
    let begun = (): void => {}
    const asked = new Promise<void>((resolve) => (begun = resolve))
    const { counted, load } = observed({
      clients: {
        async find() {
          begun()
          await looked
          return undefined
        },
      },
    })
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' })
    const response = load().POST(new Request(`${issuer}/connect/token`, { method: 'POST', body }))
    await asked
    await load().GET(discovery)
    expect(counted).toEqual({ opened: 2, closed: 0 })
    respond()
    expect((await response).status).toBe(401)
    await expect.poll(() => counted.closed).toBe(1)
  })

  test('closes a provider that was still opening', async () => {
    const { counted, source, load } = observed()
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    const response = handlers(async () => {
      await opened
      return source()
    }).GET(discovery)
    await load().GET(discovery)
    open()
    expect((await response).status).toBe(200)
    await expect.poll(() => counted).toEqual({ opened: 2, closed: 1 })
  })

  test('reports a storage that does not close, and continues', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue()
    const { source, load } = observed()
    const dispose = () => Promise.reject(new Error('no connection'))
    await handlers(() => ({ ...source(), storage: { ...memoryDriver(), dispose } })).GET(discovery)
    expect((await load().GET(discovery)).status).toBe(200)
    await expect.poll(() => error.mock.calls.flat()).toContainEqual(new Error('no connection'))
  })
})

describe('startTasks()', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))

  test('runs the tasks of plugins immediately and every five seconds, also after an edit', async () => {
    const runs: string[] = []
    const plugin = (edit: string) => definePlugin('counting', [defineTask(() => void runs.push(edit))])
    const load = (edit: string) => observed({ plugins: [plugin(edit)] }).load()
    load('first').startTasks()
    await expect.poll(() => runs).toEqual(['first'])
    load('second').startTasks()
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(5000)
    await expect.poll(() => runs).toEqual(['first', 'second'])
  })

  test.each([
    ['next build', 'NEXT_PHASE', 'phase-production-build'],
    ['the edge runtime', 'NEXT_RUNTIME', 'edge'],
  ])('does nothing during %s', (_where, name, value) => {
    vi.stubEnv(name, value)
    const { counted, load } = observed()
    load().startTasks()
    expect(counted.opened).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('reports a provider that does not open once, and tries again', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue()
    let tries = 0
    handlers(() => {
      tries += 1
      throw new Error('connect ECONNREFUSED')
    }).startTasks()
    await expect.poll(() => error.mock.calls.length).toBe(1)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(tries).toBe(4)
    expect(error).toHaveBeenCalledTimes(1)
  })
})
