import { expect } from 'vitest'
import { until } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'
import type { FramingServer } from './child-server.ts'
import { type Afterwards, beginExchange, type ExchangeInProgress, type Piece } from './exchange.ts'
import { type RawResponse, readResponses } from './raw-responses.ts'
import { hidden, outer } from './requests.ts'

/** Bytes of a client, and the responses that RFC 9112 or the wire contract allows. */
export interface FramingCase {
  readonly name: string
  readonly send: readonly Piece[] | (() => Iterable<Piece>)
  /** Sequences of statuses, any of which is valid; `[]` is a close without a response. */
  readonly responses: readonly (readonly number[])[]
  readonly afterwards?: Afterwards
  /** Some server accepts the bytes until the time limit of a request. */
  readonly endsByTimeLimit?: boolean
  /** The methods of the requests, if one is HEAD. */
  readonly methods?: readonly string[]
  /** Number of tokens for the client of the hidden request; default 0. */
  readonly hiddenTokens?: number
  readonly check?: (responses: readonly RawResponse[]) => void
}

/** Internal details that no response may contain: a stack, a file path, the name of a component. */
export const inside =
  /\n\s+at |[\w/.-]+\.[cm]?[jt]s\b|node:|node_modules|hattip|undici|hyper::|panicked|HPE_|\/(?:home|tmp|usr|work|root|var)\/|(?:Type|Range|Syntax|Reference)?Error:/u

const isStack = /^\s+at .+/mu

const grantsIn = (text: string): number => text.split('"access_token"').length - 1

const isAnswered = ({ received }: ExchangeInProgress, tokens: readonly string[]): boolean =>
  grantsIn(received()) === tokens.length

/** Sends a case and checks the responses, their framing, the issued tokens, and that the server still serves. */
export async function expectCase(server: FramingServer, test: FramingCase, eachByteAlone = false): Promise<void> {
  const { send, responses: right, afterwards = 'wait', methods = [], hiddenTokens = 0 } = test
  const pieces = typeof send === 'function' ? send() : send
  const differs = server.differs(test.name)
  const exchanging = beginExchange(server, pieces, { afterwards, eachByteAlone })
  // Some runtimes leave such a connection open.
  if (differs) await Promise.race([exchanging.ended, exchanging.sent.then(() => pause(300))])
  else await exchanging.ended
  const issued = await server.issuedSince()
  const tokens = issued.filter((client) => client === outer[0] || client === hidden[0])
  // On a busy machine, the response to a token can still be on its way.
  if (differs)
    await Promise.race([exchanging.ended, until('a response for each', () => isAnswered(exchanging, tokens))])
  exchanging.abort()
  const { text, end } = await exchanging.ended

  expect(text).not.toMatch(inside)
  expect(server.warnings()).not.toMatch(isStack)
  if (afterwards === 'cut') return
  // No token is issued without a response.
  expect(tokens, text).toHaveLength(grantsIn(text))
  if (differs) return

  expect(tokens.filter((client) => client === hidden[0])).toHaveLength(hiddenTokens)
  const mayBeReset = eachByteAlone || !server.endsItsConnections
  // A refusal during the request may be lost in a reset.
  if (mayBeReset && text === '' && end === 'reset') return
  const responses = readResponses(text, methods)
  const statuses = responses.map(({ status }) => status)
  expect(right, `${JSON.stringify(text.slice(0, 400))}, ${end}`).toContainEqual(statuses)
  expect(end, text).not.toBe('open')
  // A reset discards what the client has not read yet. It is allowed only when a response is optional.
  if (!mayBeReset && !right.some(({ length }) => length === 0)) expect(end, text).toBe('closed')
  test.check?.(responses)
}
