/** The time limit on a body holds for a host's own handler too, however slowly that reads. */
import { bunHandler } from '@grantry/adapters/bun'
import { expect, test } from 'vitest'

const server = { requestIP: () => null, stop: () => undefined }

/** A request whose body gives one piece, and then nothing any more. */
const stalled = (): Request =>
  new Request('http://127.0.0.1/connect/token', {
    method: 'POST',
    body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([1])) }),
    duplex: 'half',
  } as RequestInit)

const pause = () => new Promise((resolve) => setTimeout(resolve, 150))

test('a body whose time ends between two reads is late at the next one', async () => {
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

test('a reader of it can be cancelled, and it has one reader only', async () => {
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

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a time limit of %s is refused at start: it would be none',
  (requestTimeout) => {
    expect(() => bunHandler({ fetch: async () => new Response() }, { requestTimeout })).toThrow(/requestTimeout/u)
  },
)
