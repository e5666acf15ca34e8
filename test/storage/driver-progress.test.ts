import { memoryDriver } from '@grantry/storage-drivers/memory'
import { proveDriver } from '@grantry/testing/drivers'
import { expect, test } from 'vitest'

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
