// Processes change one record at the same time: no change is lost, and no caller is refused because others are faster.
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { testOnEveryStore } from '../administration/on-every-store.ts'
import { bundleWithPackages } from '../support/bundle-with-packages.ts'
import { startConcurrently, startProgram } from '../support/start-concurrently.ts'

let program: string
beforeAll(async () => {
  program = await bundleWithPackages(new URL('./programs/record-changer.ts', import.meta.url))
})
afterAll(() => rmSync(dirname(program), { recursive: true }))

const [processes, callers, changes] = [4, 60, 2]

testOnEveryStore('four processes add to one list', async (storage) => {
  const share = callers * changes
  const started = Array.from({ length: processes }, (_, index) =>
    startProgram(program, JSON.stringify(storage), ...[index * share, callers, changes].map(String)),
  )
  await startConcurrently(started)
  const reports = await Promise.all(started.map(async (each) => JSON.parse(await each.line())))
  await Promise.all(started.map((each) => each.rest()))
  expect(reports.flatMap(({ failures }) => failures)).toEqual([])
  const longest = reports.map(({ list }) => list as number[]).sort((left, right) => right.length - left.length)[0] ?? []
  expect(longest.sort((left, right) => left - right)).toEqual(Array.from({ length: processes * share }, (_, at) => at))
})
