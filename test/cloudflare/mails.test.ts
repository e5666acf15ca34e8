import { expect, test } from 'vitest'
import { createOutgoing } from '../../plugins/shared/outgoing-mails.ts'

// A Worker ends with the response, and with it the mails that it sends afterwards.
test.each([true, false])('keeps the Worker until a mail is sent, and as long without one: %s', async (isSent) => {
  const sent: string[] = []
  const kept: Promise<void>[] = []
  const mailer = {
    send: async ({ to }: { readonly to: string }) => void sent.push(to),
    waitUntil: (sending: Promise<void>) => void kept.push(sending),
  }
  const message = { to: 'bob@example.com', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
  const kit = { callHost: async (_port: string, call: () => Promise<void>) => call(), now: () => 0 }
  createOutgoing(mailer, 'mailer').post('test', isSent ? message : undefined, kit as never)
  expect([sent, kept.length]).toEqual([[], 1])
  await Promise.all(kept)
  expect(sent).toEqual(isSent ? ['bob@example.com'] : [])
})
