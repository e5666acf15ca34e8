// Attack: a check before this one is passed by, by a change of the code or a new caller: a mail that proves nothing, an address
// in a URL, a state of any form. The last check refuses it by itself.
import type { EndpointKit } from '@grantry/core'
import { expect, test } from 'vitest'
import { createMailed, isMailedCode } from '../../plugins/shared/mailed-code.ts'
import { nodeNetwork } from '../../plugins/shared/node-network.ts'
import { createPinnedSend } from '../../plugins/shared/pinned-send.ts'
import { findState } from '../../plugins/upstream/state.ts'

const kit = {
  randomId: () => 'id',
  sha256: () => 'AAAAAAAAAAAAAAAA',
  seal: async (value: unknown) => JSON.stringify(value),
  unseal: async (text: string) => JSON.parse(text),
  equals: (left: string, right: string) => left === right,
  records: { increment: async () => 1, get: async (key: string) => ({ key }) },
} as unknown as EndpointKit

test.each([true, false])('the code of a mail counts only if the mail does: %s', async (counts) => {
  const { code, stored } = await createMailed({ counts, expiresAt: 1 }, kit)
  expect(await isMailedCode(stored, code, kit)).toBe(counts)
})

test.each(['127.0.0.1', '[::1]', '10.0.0.1', '[::ffff:10.0.0.1]'])(
  'no request is sent to the address %s',
  async (host) => {
    const network = nodeNetwork()
    if (network === undefined) throw new Error('This test needs Node.js')
    const send = createPinnedSend(network, { resolve: async () => ['8.8.8.8'] })
    await expect(send(`https://${host}:1/`, { signal: AbortSignal.timeout(60_000) })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
  },
)

test('a state of another form is not looked up', async () => {
  for (const state of [undefined, '', 'x', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}:`, 'x'.repeat(100_000)]) {
    expect(await findState(kit, state)).toBeUndefined()
  }
  expect(await findState(kit, 'x'.repeat(43))).toBeDefined()
})
