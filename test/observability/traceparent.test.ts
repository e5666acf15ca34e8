import { openTraceContext, parseTraceparent, traceparentOf, webRuntime } from '@grantry/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const id = (length: number) => digits(length).filter((text) => !/^0+$/u.test(text))
const parts = fc.record({ traceId: id(32), spanId: id(16), flags: digits(2) })
const laterVersion = digits(2).filter((version) => version !== '00' && version !== 'ff')

describe('a traceparent', () => {
  test('of version 00 is parsed with any valid ids', () => {
    fc.assert(
      fc.property(parts, ({ traceId, spanId, flags }) => {
        expect(parseTraceparent(`00-${traceId}-${spanId}-${flags}`)).toEqual({
          traceId,
          parentSpanId: spanId,
          flags: Number.parseInt(flags, 16) & 3,
        })
      }),
    )
  })

  test('of a later version is parsed up to the flags, and may continue after a dash', () => {
    fc.assert(
      fc.property(parts, laterVersion, fc.string(), ({ traceId, spanId, flags }, version, more) => {
        const known = `${version}-${traceId}-${spanId}-${flags}`
        expect(parseTraceparent(known)?.traceId).toBe(traceId)
        expect(parseTraceparent(`${known}-${more}`)?.parentSpanId).toBe(spanId)
        expect(parseTraceparent(`${known}.${more}`)).toBeUndefined()
      }),
    )
  })

  test('with a character that is not a hex digit, or of the wrong length, is invalid', () => {
    const noHex = fc.string({ minLength: 1, maxLength: 1 }).filter((character) => !/[0-9a-f]/u.test(character))
    fc.assert(
      fc.property(parts, fc.nat(54), noHex, ({ traceId, spanId, flags }, at, character) => {
        const valid = `00-${traceId}-${spanId}-${flags}`
        const changed = valid.slice(0, at) + character + valid.slice(at + 1)
        if (changed !== valid) expect(parseTraceparent(changed)).toBeUndefined()
        expect(parseTraceparent(valid.slice(0, at) + valid.slice(at + 1))).toBeUndefined()
        expect(parseTraceparent(`${valid}${character}`)).toBeUndefined()
      }),
    )
  })

  test('never results in ids that are not hex, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => {
        const parsed = parseTraceparent(text)
        if (parsed !== undefined) expect(parsed.traceId + parsed.parentSpanId).toMatch(/^[0-9a-f]{48}$/u)
      }),
    )
  })

  test.each([
    ['absent', null],
    ['empty', ''],
    ['without a trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['without a span', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['of the forbidden version', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'.replace('00', 'ff')],
    ['in capitals', '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01'],
    ['of version 00 with more after it', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x'],
    [
      'twice',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ],
  ])('%s is invalid, and the request starts a new trace', (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined()
    const headers = new Headers(header === null ? {} : { traceparent: header })
    const context = openTraceContext(headers, webRuntime)
    expect(context).not.toHaveProperty('parentSpanId')
    expect(traceparentOf(context)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/u)
    expect(openTraceContext(headers, webRuntime).traceId).not.toBe(context.traceId)
  })

  test('that is valid is continued with its trace and flags, and a new span', () => {
    fc.assert(
      fc.property(parts, ({ traceId, spanId, flags }) => {
        const traceparent = `00-${traceId}-${spanId}-${flags}`
        const context = openTraceContext(new Headers({ traceparent }), webRuntime)
        expect(context).toMatchObject({ traceId, parentSpanId: spanId, flags: Number.parseInt(flags, 16) & 3 })
        const sent = parseTraceparent(traceparentOf(context))
        expect(sent).toEqual({ traceId, parentSpanId: context.spanId, flags: context.flags })
        expect(context.spanId).not.toBe(spanId)
      }),
    )
  })
})
