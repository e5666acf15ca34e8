import { memoryDriver } from '@grantry/storage-drivers/memory'
import { proveDriver } from '@grantry/testing/drivers'
import { expect, onTestFinished, test, vi } from 'vitest'

test('the kit for drivers reports each proof when it ends, and why proofs were skipped', async () => {
  const ended: string[] = []
  const { results, text } = await proveDriver(
    { open: () => memoryDriver() },
    { onResult: ({ name }) => void ended.push(name) },
  )
  expect([...ended].sort()).toEqual(results.map(({ name }) => name).sort())
  const [head = '', second = ''] = text.split('\n')
  expect(head).toMatch(/ \d+ skipped$/u)
  expect(second).toMatch(/^\d+ skipped: .+/u)
})

test.each([true, false])(
  'a person at a terminal (%s) sees a line for each proof while they run',
  async (isTerminal) => {
    const { isTTY } = process.stderr
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => {
      process.stderr.isTTY = isTTY
      write.mockRestore()
    })
    process.stderr.isTTY = isTerminal
    const { results } = await proveDriver({ open: () => memoryDriver() })
    const lines = write.mock.calls.map(([line]) => String(line))
    expect(lines.filter((line) => /^(?:passed |skipped) \S.*\n$/u.test(line))).toHaveLength(
      isTerminal ? results.length : 0,
    )
  },
)
