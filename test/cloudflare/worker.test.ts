import { type ProviderOptions, storedKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestClock, mapDriver, sha256Of } from '@grantry/testing'
import { expect, test, vi } from 'vitest'
import { type WorkerHost, worker } from '../../packages/cloudflare/src/index.ts'

interface Environment {
  readonly ISSUER: string
}

const issuer = 'https://id.example.com'
const context = { waitUntil: () => {} }

/** A Worker with its storage, and what it was asked and has recorded. */
function started(more: Partial<ProviderOptions> = {}, host: WorkerHost<Environment> = {}) {
  const clock = createTestClock()
  const storage = { ...mapDriver(new Map(), clock.now), purge: vi.fn(async () => 3) }
  const events: { readonly type: string; readonly clientAddress?: string | undefined }[] = []
  const optionsOf = vi.fn(
    async ({ ISSUER }: Environment): Promise<ProviderOptions> => ({
      issuer: ISSUER,
      keys: storedKeys({ algorithms: ['ES256'] }),
      storage,
      clients: [
        {
          clientId: 'app',
          secrets: [{ sha256: sha256Of('app-secret') }],
          grantTypes: ['client_credentials'],
          scopes: ['api1'],
        },
      ],
      scopes: [{ name: 'api1' }],
      plugins: [clientCredentials()],
      observe: (event) => void events.push(event),
      runtime: { now: clock.now, elapsed: () => clock.now() * 1000 },
      ...more,
    }),
  )
  const environment: Environment = { ISSUER: issuer }
  const handlers = worker(optionsOf, host)
  return { handlers, optionsOf, storage, events, environment, clock }
}

const tokenRequest = (headers: Record<string, string> = {}) =>
  new Request(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('app:app-secret')}`, ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })

test('creates a provider with the first request, and keeps it for the environment', async () => {
  const { handlers, optionsOf, environment } = started()
  expect(optionsOf).not.toHaveBeenCalled()
  for (let index = 0; index < 3; index += 1) {
    expect((await handlers.fetch(tokenRequest(), environment, context)).status).toBe(200)
  }
  expect(optionsOf).toHaveBeenCalledTimes(1)
  const otherMetadata = await handlers.fetch(
    new Request('https://other.example.com/.well-known/openid-configuration'),
    { ISSUER: 'https://other.example.com' },
    context,
  )
  expect(await otherMetadata.json()).toMatchObject({ issuer: 'https://other.example.com' })
  expect(optionsOf).toHaveBeenCalledTimes(2)
})

test('lets no request wait for another one: each of several first requests creates a provider', async () => {
  const { handlers, optionsOf, environment } = started()
  const never = new Promise<never>(() => {})
  optionsOf.mockReturnValueOnce(never)
  const ended = handlers.fetch(tokenRequest(), environment, context)
  const responses = await Promise.all([1, 2].map(() => handlers.fetch(tokenRequest(), environment, context)))
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  expect(optionsOf).toHaveBeenCalledTimes(3)
  expect(await Promise.race([ended, 'waits'])).toBe('waits')
})

test('passes a function that returns the provider of these options, once it exists', async () => {
  const { optionsOf, environment } = started()
  const others = await optionsOf(environment)
  const seen: unknown[] = []
  const handlers = worker<Environment>((_environment, provider) => {
    expect(provider).toThrow('worker(): the provider does not exist until its options are returned')
    return { ...others, observe: () => void seen.push(provider().issuer) }
  })
  await handlers.fetch(tokenRequest(), environment, context)
  expect(seen).toContain(issuer)
})

test('keeps no failure: the next request creates the provider', async () => {
  const { handlers, optionsOf, environment } = started()
  optionsOf.mockRejectedValueOnce(new Error('no binding DB'))
  await expect(handlers.fetch(tokenRequest(), environment, context)).rejects.toThrow('no binding DB')
  expect((await handlers.fetch(tokenRequest(), environment, context)).status).toBe(200)
})

/** A storage whose end is counted. */
function closable(broken = false) {
  const storage = mapDriver(new Map(), () => 0)
  return {
    ...storage,
    ...(broken && { getItem: () => Promise.reject(new Error('the database is away')) }),
    dispose: vi.fn(async () => {
      throw new Error('the storage cannot be closed')
    }),
  }
}

test('closes what a slower one of several first requests has opened, after its response', async () => {
  const { handlers, optionsOf, environment } = started()
  const storages = [1, 2, 3].map(() => closable())
  const options = await optionsOf(environment)
  for (const storage of storages) optionsOf.mockResolvedValueOnce({ ...options, storage })
  const waitUntil = vi.fn((_work: Promise<unknown>) => {})
  const requests = storages.map(() => handlers.fetch(tokenRequest(), environment, { waitUntil }))
  expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 200])
  await Promise.all(waitUntil.mock.calls.flat())
  expect(storages.map(({ dispose }) => dispose.mock.calls.length).sort()).toEqual([0, 1, 1])
})

test('closes no storage that the kept provider uses, too', async () => {
  const storage = closable()
  const { handlers, environment } = started({ storage })
  const waitUntil = vi.fn((_work: Promise<unknown>) => {})
  await Promise.all([1, 2, 3].map(() => handlers.fetch(tokenRequest(), environment, { waitUntil })))
  await Promise.all(waitUntil.mock.calls.flat())
  expect(storage.dispose).not.toHaveBeenCalled()
})

test('closes the storage of a provider that does not open', async () => {
  const { handlers, optionsOf, environment } = started()
  const storage = closable(true)
  optionsOf.mockResolvedValueOnce({ ...(await optionsOf(environment)), storage })
  const waitUntil = vi.fn((_work: Promise<unknown>) => {})
  await expect(handlers.fetch(tokenRequest(), environment, { waitUntil })).rejects.toThrow('storage')
  await Promise.all(waitUntil.mock.calls.flat())
  expect(storage.dispose).toHaveBeenCalledTimes(1)
  expect((await handlers.fetch(tokenRequest(), environment, context)).status).toBe(200)
})

test.each([
  ['the header that Cloudflare sets', { 'cf-connecting-ip': '203.0.113.7' }, '203.0.113.7'],
  ['no header that a client can send', { 'x-forwarded-for': '203.0.113.8', 'x-real-ip': '203.0.113.8' }, undefined],
  ['only the header of Cloudflare', { 'cf-connecting-ip': '203.0.113.7', 'x-forwarded-for': '::1' }, '203.0.113.7'],
])('takes the address of the client from %s', async (_what, headers, expected) => {
  const { handlers, events, environment } = started()
  await handlers.fetch(tokenRequest(headers), environment, context)
  expect(events.find(({ type }) => type === 'token_issued')?.clientAddress).toBe(expected)
})

test('leaves other paths to the host, with the provider', async () => {
  const fetchOther = vi.fn(async (request: Request) => new Response(`hello from ${new URL(request.url).pathname}`))
  const { handlers, environment } = started({}, { fetch: fetchOther })
  const response = await handlers.fetch(new Request(`${issuer}/hello`), environment, context)
  expect(await response.text()).toBe('hello from /hello')
  expect(fetchOther.mock.lastCall).toEqual([
    expect.any(Request),
    environment,
    context,
    expect.objectContaining({ issuer }),
  ])
  expect(await (await handlers.fetch(tokenRequest(), environment, context)).json()).toHaveProperty('access_token')
  expect(fetchOther).toHaveBeenCalledTimes(1)
})

test('responds with 404 to other paths without a host', async () => {
  const { handlers, environment } = started()
  expect((await handlers.fetch(new Request(`${issuer}/hello`), environment, context)).status).toBe(404)
})

test('rotates keys, runs tasks, removes expired items and does the work of the host on a schedule', async () => {
  const scheduled = vi.fn(async () => {})
  const { handlers, storage, events, environment, clock } = started({}, { scheduled })
  await handlers.scheduled({ cron: '* * * * *' }, environment, context)
  expect(storage.purge).toHaveBeenCalledTimes(1)
  expect(events.map(({ type }) => type)).not.toContain('keys_rotated')
  clock.advance(90 * 86_400)
  await handlers.scheduled({ cron: '* * * * *' }, environment, context)
  expect(events.map(({ type }) => type)).toContain('keys_rotated')
  expect(scheduled).toHaveBeenLastCalledWith(
    { cron: '* * * * *' },
    environment,
    context,
    expect.objectContaining({ issuer }),
  )
})

test('rotates keys, runs tasks and does the work of the host although other work fails, and reports that', async () => {
  const scheduled = vi.fn(async (): Promise<void> => {
    throw new Error('the host has failed')
  })
  const { handlers, storage, events, environment, clock } = started({}, { scheduled })
  storage.purge.mockRejectedValue(new Error('D1 is overloaded'))
  await handlers.fetch(tokenRequest(), environment, context)
  clock.advance(90 * 86_400)
  const run = handlers.scheduled({}, environment, context)
  await expect(run).rejects.toThrow('Error: D1 is overloaded; Error: the host has failed')
  expect(events.map(({ type }) => type)).toContain('keys_rotated')
  scheduled.mockResolvedValue()
  await expect(handlers.scheduled({}, environment, context)).rejects.toThrow(/^D1 is overloaded$/u)
})

test('schedules work with a storage that removes expired items itself', async () => {
  const { handlers, environment } = started({ storage: mapDriver(new Map(), () => 0) })
  await expect(handlers.scheduled({}, environment, context)).resolves.toBeUndefined()
})
