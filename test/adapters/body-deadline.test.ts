/** The time limit on a body also applies to handlers of the host, however slowly they read. */
import { bunHandler } from '@grantry/adapters/bun'
import { describe, expect, test } from 'vitest'
import { lastResort } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'

const server = { requestIP: () => null, stop: () => undefined }

/** Returns a request whose body stalls after its first chunk. */
const stalled = (): Request =>
  new Request('http://127.0.0.1/connect/token', {
    method: 'POST',
    body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([1])) }),
    duplex: 'half',
  } as RequestInit)

test('a body whose deadline passes between two reads fails the next read', async () => {
  const outcomes: unknown[] = []
  const requestTimeout = 0.05
  const otherHandler = bunHandler({ fetch: async (request) => new Response(await request.text()) }, { requestTimeout })
  const handler = bunHandler(
    {
      async fetch(request) {
        const reader = request.body?.getReader()
        outcomes.push((await reader?.read())?.value)
        // The deadline of another body, which began later, has passed.
        await otherHandler(stalled(), server)
        outcomes.push(
          await reader?.read().then(
            () => 'read',
            () => 'late',
          ),
        )
        return new Response('never sent')
      },
    },
    { requestTimeout },
  )
  expect((await handler(stalled(), server)).status).toBe(408)
  expect(outcomes).toEqual([new Uint8Array([1]), 'late'])
})

test('a body has a single reader, which can be cancelled', async () => {
  const outcomes: unknown[] = []
  const handler = bunHandler({
    async fetch({ body }) {
      const reader = body?.getReader()
      outcomes.push(body?.locked)
      expect(() => body?.getReader()).toThrow(TypeError)
      await reader?.cancel()
      return new Response('done')
    },
  })
  expect(await (await handler(stalled(), server)).text()).toBe('done')
  expect(outcomes).toEqual([true])
})

describe('a body of a known, moderate length', () => {
  const sent = (body: BodyInit, headers: Record<string, string> = {}): Request => {
    const length = { 'content-length': '5', ...headers }
    return new Request('http://127.0.0.1/', { method: 'POST', headers: length, body, duplex: 'half' } as RequestInit)
  }
  /** A body that stalls after its first chunk. */
  const endless = (): ReadableStream => new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([1])) })
  /** Reads with a handler of the host. */
  async function read(
    request: Request,
    use: (reader: ReadableStreamDefaultReader) => Promise<unknown>,
    requestTimeout = lastResort / 1000,
  ) {
    let used: unknown
    const handler = bunHandler(
      {
        async fetch({ body }) {
          used = body === null ? 'no body' : await use(body.getReader())
          return new Response()
        },
      },
      { requestTimeout },
    )
    const { status } = await handler(request, server)
    return { status, used }
  }

  test('arrives in one chunk, however it is sent', async () => {
    const parts = ['he', 'll', 'o'].map((text) => new TextEncoder().encode(text))
    const body = new ReadableStream({
      pull(to) {
        const part = parts.shift()
        if (part === undefined) to.close()
        else to.enqueue(part)
      },
    })
    const { used } = await read(sent(body), async (reader) => [await reader.read(), await reader.read()])
    expect(used).toEqual([
      { done: false, value: new TextEncoder().encode('hello') },
      { done: true, value: undefined },
    ])
  })

  test('that has arrived has no deadline, even if its handler takes longer', async () => {
    const use = async (reader: ReadableStreamDefaultReader) => {
      await reader.read()
      // The deadline of a later body that stalls has passed, so that of this one would have, too.
      expect((await read(sent(endless()), (later) => later.read(), 0.05)).status).toBe(408)
      await reader.closed
      return (await reader.read()).done
    }
    const { status, used } = await read(sent('hello'), use, 0.05)
    expect({ status, used }).toEqual({ status: 200, used: true })
  })

  test('gets 408 when it stalls', async () => {
    const { status } = await read(sent(endless()), (reader) => reader.read(), 0.05)
    expect(status).toBe(408)
  })

  test('is a stream for a handler that waits for its end or cancels it before it reads', async () => {
    const cancelled: unknown[] = []
    const body = new ReadableStream({ cancel: (reason) => void cancelled.push(reason) })
    await read(sent(body), (reader) => reader.cancel('enough'))
    expect(cancelled).toEqual(['enough'])
    const { used } = await read(sent('hello'), async (reader) => {
      const closed = reader.closed
      const { value } = await reader.read()
      await reader.read()
      await closed
      return value
    })
    expect(used).toEqual(new TextEncoder().encode('hello'))
  })

  test('can be cancelled while it arrives', async () => {
    const { status } = await read(sent(endless()), async (reader) => {
      void reader.read().catch(() => undefined)
      await reader.cancel()
    })
    expect(status).toBe(200)
  })

  test.each([
    ['has a transfer coding, which overrides the length', { 'transfer-encoding': 'chunked' }],
    ['is longer than 64 KiB', { 'content-length': '65537' }],
  ])('arrives in chunks if it %s', async (_, headers) => {
    const { used } = await read(sent(endless(), headers), (reader) => reader.read())
    expect(used).toEqual({ done: false, value: new Uint8Array([1]) })
  })
})

test('bodies that stall at different times each get 408 after the time limit', async () => {
  const handler = bunHandler({ fetch: async (request) => new Response(await request.text()) }, { requestTimeout: 0.05 })
  const first = handler(stalled(), server)
  await pause(20)
  const second = handler(stalled(), server)
  for (const response of [await first, await second]) expect(response.status).toBe(408)
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('rejects requestTimeout %s', (requestTimeout) => {
  expect(() => bunHandler({ fetch: async () => new Response() }, { requestTimeout })).toThrow(/requestTimeout/u)
})
