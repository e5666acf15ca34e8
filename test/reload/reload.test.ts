// What happens to requests, calls and resources while a configuration replaces another one.
import { expect, test, vi } from 'vitest'
import { createProviderSlot } from '../../packages/server/src/reload/provider-slot.ts'
import { createReloadQueue } from '../../packages/server/src/reload/reload.ts'
import { clientOf, loadedOf, run } from './running.ts'

/** A promise that the test resolves. */
function gate<T = void>(): { readonly promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open: (value) => open(value) }
}

const token = { grant_type: 'client_credentials', scope: 'api1' }

test('a request that has begun ends with its provider, which closes only then', async () => {
  const [first, login] = [gate(), gate<{ readonly sub: string }>()]
  const users = {
    authenticate: () => {
      first.open()
      return login.promise
    },
  }
  const server = await run(loadedOf({ users }))
  const pending = server.post('/connect/token', {
    grant_type: 'password',
    username: 'alice',
    password: 'x',
    scope: 'api1',
  })
  await first.promise
  server.next = async () => loadedOf({ clients: [clientOf('other')] })
  expect(await server.running.reload()).toMatchObject({ reloaded: true })
  expect((await server.post('/connect/token', token)).status).toBe(401)
  expect((await server.post('/connect/token', token, 'other')).status).toBe(200)
  login.open({ sub: 'alice' })
  expect((await pending).status).toBe(200)
  await server.running.close()
})

test('closing waits for what was replaced and is still closing', async () => {
  const closing = gate()
  const closed: string[] = []
  const serving = (name: string, wait: Promise<void>) => ({
    handle: () => Promise.resolve(new Response()),
    async close() {
      await wait
      closed.push(name)
    },
  })
  const slot = createProviderSlot(serving('first', closing.promise), { patience: 1000, onError: () => {} })
  slot.replace(serving('second', Promise.resolve()))
  const ended = slot.close().then(() => closed.push('all'))
  // What could end without the first one has ended.
  await new Promise((resolve) => setImmediate(resolve))
  closing.open()
  await ended
  expect(closed).toEqual(['first', 'second', 'all'])
})

test('the last request closes what was replaced, or the limit of time', async () => {
  vi.useFakeTimers()
  try {
    const closed: string[] = []
    const response = gate<Response>()
    const serving = (name: string) => ({
      handle: () => response.promise,
      close: async () => {
        closed.push(name)
      },
    })
    const slot = createProviderSlot(serving('a'), { patience: 1000, onError: () => {} })
    const request = slot.handle(new Request('https://id.example.com'))
    slot.replace(serving('b'))
    await vi.advanceTimersByTimeAsync(999)
    expect(closed).toEqual([])
    response.open(new Response())
    await request
    await vi.advanceTimersByTimeAsync(0)
    expect(closed).toEqual(['a'])
    const never = createProviderSlot(
      { ...serving('c'), handle: () => new Promise(() => {}) },
      { patience: 1000, onError: () => {} },
    )
    void never.handle(new Request('https://id.example.com'))
    never.replace(serving('d'))
    await vi.advanceTimersByTimeAsync(1000)
    expect(closed).toEqual(['a', 'c'])
    await never.close()
    expect(closed).toEqual(['a', 'c', 'd'])
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a thousand calls during a run lead to one more, and none overlaps', async () => {
  let [running, most, runs] = [0, 0, 0]
  const gates = [gate(), gate()]
  const reload = createReloadQueue(async () => {
    running += 1
    most = Math.max(most, running)
    const run = runs
    runs += 1
    await gates[run]?.promise
    running -= 1
    return run
  })
  const calls = [reload(), ...Array.from({ length: 1000 }, () => reload())]
  gates[0]?.open()
  gates[1]?.open()
  expect(new Set(await Promise.all(calls))).toEqual(new Set([0, 1]))
  expect([most, runs]).toEqual([1, 2])
  expect(await reload()).toBe(2)
})

test('a server that is stopping reads nothing, also when it began to stop in the middle', async () => {
  const server = await run(loadedOf())
  const reading = gate()
  server.next = async () => {
    await reading.promise
    return loadedOf({ clients: [clientOf('other')] })
  }
  const outcome = server.running.reload()
  server.running.beginShutdown()
  reading.open()
  expect(await outcome).toMatchObject({ reloaded: false, reason: 'stopping' })
  expect(await server.running.reload()).toMatchObject({ reason: 'stopping' })
  expect((await server.post('/connect/token', token)).status).toBe(200)
  expect(server.events.filter(({ type }) => type === 'configuration_refused')).toHaveLength(2)
  await server.running.close()
})

test('an open page of the console gets events across a reload, and is closed when its setting changes', async () => {
  const server = await run(loadedOf({ console: true }))
  const get = (path: string) =>
    server.running.handle(new Request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1' } }), {
      clientAddress: '127.0.0.1',
    })
  const { body, status } = await get('/console/events')
  expect(status).toBe(200)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const ended = (async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value
  })()
  server.next = async () => loadedOf({ console: true, clients: [clientOf('web'), clientOf('other')] })
  await server.running.reload()
  await server.post('/connect/token', token, 'other')
  await expect.poll(() => text).toContain('token_issued')
  server.next = async () => loadedOf({ console: false })
  await server.running.reload()
  await ended
  expect((await get('/console/events')).status).toBe(404)
  server.running.stop()
  await server.running.close()
})
