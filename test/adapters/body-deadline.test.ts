/** The time limit on a body also applies to handlers of the host, however slowly they read. */
import { bunHandler } from '@grantry/adapters/bun'
import { expect, test } from 'vitest'

const server = { requestIP: () => null, stop: () => undefined }

/** Returns a request whose body stalls after its first chunk. */
const stalled = (): Request =>
  new Request('http://127.0.0.1/connect/token', {
    method: 'POST',
    body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([1])) }),
    duplex: 'half',
  } as RequestInit)

const pause = () => new Promise((resolve) => setTimeout(resolve, 150))

test('a body whose deadline passes between two reads fails the next read', async () => {
  const outcomes: unknown[] = []
  const handler = bunHandler(
    {
      async fetch(request) {
        const reader = request.body?.getReader()
        outcomes.push((await reader?.read())?.value)
        await pause()
        outcomes.push(
          await reader?.read().then(
            () => 'read',
            () => 'late',
          ),
        )
        return new Response('never sent')
      },
    },
    { requestTimeout: 0.05 },
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

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('rejects requestTimeout %s', (requestTimeout) => {
  expect(() => bunHandler({ fetch: async () => new Response() }, { requestTimeout })).toThrow(/requestTimeout/u)
})
