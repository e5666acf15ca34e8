import { expect, test } from 'vitest'
import { createSharedReads, type Query } from '../../packages/users/src/sql/shared-reads.ts'

test('a user with more rows than the statement may return hides no other user of it', async () => {
  const table = [['ann'], ['ann'], ['ann'], ['bob']]
  const statements: string[] = []
  const sharedRead = createSharedReads(async (begin: () => Query) => {
    const { text, values } = begin()
    const [names = '', limit = '2'] = values
    statements.push(text)
    return table.filter(([sub = '']) => names.includes(sub)).slice(0, Number(limit))
  })
  const statement = { oneRow: 'one', manyRows: 'many' }
  const [ofAnn, ofBob] = await Promise.all(['ann', 'bob'].map((sub) => sharedRead(statement, sub)))
  expect([ofAnn, ofBob]).toEqual([[['ann'], ['ann']], [['bob']]])
  expect(statements).toEqual(['many', 'one', 'one'])
})
