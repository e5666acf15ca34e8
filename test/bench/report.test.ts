import { describe, expect, it } from 'vitest'
import { wrap } from '../../bench/report/section.ts'
import { targetSection } from '../../bench/report/targets.ts'
import { readCalls } from '../../bench/run/bench-postgresql.ts'
import { countTrips } from '../../bench/run/measure-trips.ts'
import { bottleneckOf } from '../../bench/sections/scale-section.ts'

const sent = (...times: readonly number[]) => times.map((time) => ({ time, inScript: false }))

describe('the report of the benchmark', () => {
  it.each([
    ['commands that are sent together', sent(0, 0.1, 0.3), { sent: 3, executed: 3, trips: 1 }],
    ['commands that wait for replies', sent(0, 20.4, 20.5, 41), { sent: 4, executed: 4, trips: 3 }],
    ['commands in a script', [...sent(0), { time: 0, inScript: true }], { sent: 1, executed: 2, trips: 1 }],
    ['no commands', [], { sent: 0, executed: 0, trips: 0 }],
  ])('counts the trips of %s', (_, commands, counts) => {
    expect(countTrips(commands)).toEqual(counts)
  })

  it.each([1, 3, 7, 100])('counts the statements of a PostgreSQL connection in pieces of %i bytes', (size) => {
    const message = (type: string, length: number): Buffer => {
      const bytes = Buffer.alloc(type.length + 4 + length, 'E')
      bytes.write(type, 'latin1')
      bytes.writeUInt32BE(4 + length, type.length)
      return bytes
    }
    // The startup message, Parse, Bind, Execute, Sync; Query; Sync.
    const sent = [
      ['', 40],
      ['P', 90],
      ['B', 20],
      ['E', 5],
      ['S', 0],
      ['Q', 12],
      ['S', 0],
    ] as const
    const bytes = Buffer.concat(sent.map(([type, length]) => message(type, length)))
    let calls = 0
    const read = readCalls(() => {
      calls += 1
    })
    for (let start = 0; start < bytes.length; start += size) read(bytes.subarray(start, start + size))
    expect(calls).toBe(2)
  })

  it.each([
    ['the server process', { serverLoad: 0.99, busiestServer: 0.99, redisLoad: 0.2, generatorLoad: 0.2 }],
    ['all 2 cores', { serverLoad: 1.4, busiestServer: 0.7, redisLoad: 0.3, generatorLoad: 0.25 }],
    ['Redis', { serverLoad: 0.5, busiestServer: 0.3, redisLoad: 0.97, generatorLoad: 0.2 }],
    ['other programs', { serverLoad: 0.5, busiestServer: 0.3, redisLoad: 0.1, generatorLoad: 0.1, otherLoad: 0.96 }],
    ['nothing is busy all the time', { serverLoad: 0.5, busiestServer: 0.5, redisLoad: 0.1, generatorLoad: 0.1 }],
  ])('names %s as the bottleneck', (name, loads) => {
    expect(bottleneckOf({ requestsPerSecond: 1, otherLoad: 0, ...loads }, 2)).toBe(name)
  })

  it('compares what was reached with the target, as precisely as it prints them', () => {
    const { rows, notes } = targetSection('Targets', [
      { what: 'speed', target: 0.7, reached: 0.696 },
      { what: 'slow', target: 0.7, reached: 0.69 },
      { what: 'trips', target: 2, reached: 3, isMaximum: true },
    ])
    expect(rows.slice(1)).toEqual([
      ['speed', 'at least 0.70', '0.70', 'yes'],
      ['slow', 'at least 0.70', '0.69', 'no'],
      ['trips', 'at most 2.00', '3.00', 'no'],
    ])
    expect(notes).toContain('1 of 3 targets are met.')
  })

  it('wraps notes at 100 columns', () => {
    const text = wrap(`- ${'word '.repeat(60).trim()}`, '  ')
    expect(text.split('\n').every((line) => line.length <= 100)).toBe(true)
    expect(text.replace(/\n */gu, ' ')).toBe(`- ${'word '.repeat(60).trim()}`)
  })
})
