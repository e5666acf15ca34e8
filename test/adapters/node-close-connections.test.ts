/**
 * `close()` as clients see it. Idle connections close immediately. A client that waits for a response gets it with
 * `Connection: close`. New connections are refused. Connections that are still open after the given seconds are
 * destroyed.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { standStill } from '../framing/exchange.ts'
import { readResponses } from '../framing/raw-responses.ts'
import { get, tokenRequest } from '../framing/requests.ts'
import { lastResort } from '../support/eventually.ts'
import { fixture } from '../support/fixture.ts'

let server: RunningServer
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close(0)
})

/** Starts a server whose responses wait at a gate. */
async function start(): Promise<{ open(): void }> {
  const { provider } = await fixture()
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const fetch: typeof provider.fetch = async (request, connection) => {
    const response = await provider.fetch(request, connection)
    if (request.url.includes('token')) await gate
    return response
  }
  server = await serve({ issuer: provider.issuer, fetch })
  return { open }
}

interface Caller {
  readonly socket: Socket
  /** Everything received so far. */
  output(): string
  /** Resolves with the seconds from the call to the end of the connection. */
  ended(): Promise<void>
}

async function call(bytes = ''): Promise<Caller> {
  const socket = connect(server.port, server.host)
  sockets.push(socket)
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (data) => {
    text += data
  })
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(bytes)
  return {
    socket,
    output: () => text,
    async ended() {
      const late = new Promise((_, reject) =>
        setTimeout(reject, lastResort, new Error('the connection is still open')).unref(),
      )
      await Promise.race([closed, late])
    },
  }
}

const answered = async (caller: Caller): Promise<void> => {
  while (!caller.output().includes('\r\n\r\n')) await once(caller.socket, 'data')
}
/** Seconds after which `close()` would destroy the connections: more than a test lasts. */
const muchLater = 600

test('closes idle connections immediately', async () => {
  await start()
  const caller = await call(get('/.well-known/jwks').replace('Connection: close\r\n', ''))
  await answered(caller)
  const ended = caller.ended()
  await server.close(muchLater)
  await ended
})

test('reads what has arrived on an idle connection, also after a pause of the whole process', async () => {
  const { open } = await start()
  open()
  const request = get('/.well-known/jwks').replace('Connection: close\r\n', '')
  const caller = await call(request)
  await answered(caller)
  // The timers of the server come before it reads.
  await new Promise<void>((resolve) => setImmediate(resolve))
  const closed = server.close(muchLater)
  caller.socket.write(request)
  standStill(500)
  await caller.ended()
  await closed
  const statuses = readResponses(caller.output()).map(({ status }) => status)
  expect(statuses).toEqual([200, 200])
})

test('keeps idle connections while requests arrive on others', async () => {
  const { open } = await start()
  open()
  const request = get('/.well-known/jwks').replace('Connection: close\r\n', '')
  const [first, second, third] = await Promise.all([call(request), call(request), call(request)])
  for (const caller of [first, second, third]) await answered(caller)
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const closed = server.close(muchLater)
  for (const caller of [first, second]) {
    vi.advanceTimersByTime(90)
    // What the timers have begun is done after this turn.
    await new Promise<void>((resolve) => setImmediate(resolve))
    caller.socket.write(request)
    await caller.ended()
    expect(readResponses(caller.output()).map(({ status }) => status)).toEqual([200, 200])
  }
  await vi.advanceTimersByTimeAsync(200)
  await third.ended()
  await closed
})

test('completes pending responses, then closes their connections', async () => {
  const { open } = await start()
  const callers = await Promise.all(Array.from({ length: 20 }, () => call(tokenRequest({ keep: true }))))
  // When a later request has its response, all callers wait at the gate.
  const last = await call(get('/.well-known/jwks'))
  await last.ended()
  const closed = server.close(muchLater)
  open()
  for (const caller of callers) {
    await caller.ended()
    expect(readResponses(caller.output())).toMatchObject([{ status: 200 }])
  }
  await closed
})

test('a response during the shutdown has Connection: close', async () => {
  const { open } = await start()
  const caller = await call(tokenRequest({ keep: true }))
  await (await call(get('/.well-known/jwks'))).ended()
  const closed = server.close(muchLater)
  open()
  await caller.ended()
  await closed
  const [response] = readResponses(caller.output())
  expect(response?.headers.get('connection')).toBe('close')
})

test('a request pipelined behind a pending one is completed or not processed', async () => {
  const { open } = await start()
  const caller = await call(tokenRequest({ keep: true }) + tokenRequest({ keep: true }))
  await (await call(get('/.well-known/jwks'))).ended()
  const closed = server.close(muchLater)
  open()
  await caller.ended()
  await closed
  const statuses = readResponses(caller.output()).map(({ status }) => status)
  expect([[200], [200, 200]]).toContainEqual(statuses)
})

test('refuses new connections while requests complete', async () => {
  const { open } = await start()
  const caller = await call(tokenRequest())
  await (await call(get('/.well-known/jwks'))).ended()
  const closed = server.close(muchLater)
  for (let time = 0; time < 5; time += 1) {
    const [error] = await once(connect(server.port, server.host), 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  }
  open()
  await caller.ended()
  expect(readResponses(caller.output())).toMatchObject([{ status: 200 }])
  await closed
})

test('destroys unfinished connections after the given seconds', async () => {
  const { open } = await start()
  const request = tokenRequest({ keep: true })
  const callers = await Promise.all([call(request), call(request.slice(0, -10)), call(request.slice(0, 40))])
  await (await call(get('/.well-known/jwks'))).ended()
  const ends = callers.map((caller) => caller.ended())
  await server.close(1)
  await Promise.all(ends)
  for (const caller of callers) expect(caller.output()).toBe('')
  open()
})
