import { expect } from 'vitest'
import { type RawAnswer, readAnswers } from './answers.ts'
import type { FramingServer } from './child-server.ts'
import { type Afterwards, exchange, type Piece } from './exchange.ts'
import { hidden, outer } from './requests.ts'

/** Bytes that somebody sends, and what RFC 9112 or the wire contract let a server say to them. */
export interface FramingCase {
  readonly name: string
  readonly send: readonly Piece[] | (() => Iterable<Piece>)
  /** Sequences of statuses, any of which is right; `[]` is a close without an answer. */
  readonly answers: readonly (readonly number[])[]
  readonly afterwards?: Afterwards
  /** Of the requests, where one is HEAD. */
  readonly methods?: readonly string[]
  /** Tokens that the client of a hidden request may get; default none. */
  readonly hiddenTokens?: number
  readonly check?: (answers: readonly RawAnswer[]) => void
}

/** What no stranger may learn: a stack, a path of a file, a name of what is inside. */
export const inside =
  /\n\s+at |[\w/.-]+\.[cm]?[jt]s\b|node:|node_modules|hattip|undici|hyper::|panicked|HPE_|\/(?:home|tmp|usr|work|root|var)\/|(?:Type|Range|Syntax|Reference)?Error:/u

const isStack = /^\s+at .+/mu

/** Sends a case and judges all of it: the answers, their framing, what was done in silence, and whether the server goes on. */
export async function expectCase(server: FramingServer, test: FramingCase, eachByteAlone = false): Promise<void> {
  const { send, answers: right, afterwards = 'wait', methods = [], hiddenTokens = 0 } = test
  const pieces = typeof send === 'function' ? send() : send
  const differs = server.differs(test.name)
  const { text, end } = await exchange(server.port, pieces, { afterwards, eachByteAlone, seconds: differs ? 0.3 : 8 })
  const issued = await server.issuedSince()

  expect(text).not.toMatch(inside)
  expect(server.complaints()).not.toMatch(isStack)
  if (afterwards === 'cut') return
  // Nothing is done in silence.
  const tokens = issued.filter((client) => client === outer[0] || client === hidden[0])
  const granted = text.split('"access_token"').length - 1
  expect(tokens, text).toHaveLength(granted)
  if (differs) return

  expect(tokens.filter((client) => client === hidden[0])).toHaveLength(hiddenTokens)
  const mayBeReset = eachByteAlone || !server.endsItsConnections
  // A refusal that comes before all was sent may be lost with what is still on its way.
  if (mayBeReset && text === '' && end === 'reset') return
  const answers = readAnswers(text, methods)
  const statuses = answers.map(({ status }) => status)
  expect(right, `${JSON.stringify(text.slice(0, 400))}, ${end}`).toContainEqual(statuses)
  expect(end, text).not.toBe('open')
  // A reset throws away what the caller has not read yet: only who may go without an answer may be reset, or who goes on sending after it.
  if (!mayBeReset && !right.some(({ length }) => length === 0)) expect(end, text).toBe('closed')
  test.check?.(answers)
}
