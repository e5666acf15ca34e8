import { expect } from 'vitest'
import type { Answer } from './answer.ts'
import type { ContractCase, Expected, Kept } from './contract-case.ts'
import type { WireRequest } from './wire-request.ts'

function judge(answer: Answer, expected: Expected, kept: Kept): void {
  const { status, headers = {}, body, json, check } = expected
  // The message of a failure shows the complete response.
  const shown = { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body }
  expect([status].flat(), JSON.stringify(shown)).toContain(answer.status)
  for (const [name, value] of Object.entries(headers)) {
    const found = answer.headers.get(name)
    if (value instanceof RegExp) expect(found, name).toMatch(value)
    else expect(found, name).toBe(value)
  }
  if (body !== undefined) expect(answer.body).toBe(body)
  if (json !== undefined) expect(JSON.parse(answer.body)).toEqual(json)
  check?.(answer.body, kept)
  const length = answer.headers.get('content-length')
  if (length !== undefined && answer.body !== '') expect(Buffer.byteLength(answer.body)).toBe(Number(length))
  // No response reveals stack traces, file paths or an HTML error page.
  expect(answer.body).not.toMatch(/node_modules|\bat .+:\d+:\d+|<html/iu)
}

/**
 * Sends the requests of a case in sequence and checks each response.
 *
 * @param deviation if set, replaces the expectation of every step
 */
export async function runCase(
  { steps }: ContractCase,
  send: (request: WireRequest) => Promise<Answer>,
  deviation?: Expected,
): Promise<void> {
  const kept: Record<string, string> = {}
  for (const step of steps) {
    const answer = await send(typeof step.send === 'function' ? step.send(kept) : step.send)
    judge(answer, deviation ?? step.expect, kept)
    for (const [name, member] of Object.entries(step.keep ?? {})) kept[name] = JSON.parse(answer.body)[member]
  }
}
