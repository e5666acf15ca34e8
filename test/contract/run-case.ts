import { expect } from 'vitest'
import type { ContractCase, Expected, Kept } from './contract-case.ts'
import type { ReceivedResponse } from './response.ts'
import type { WireRequest } from './wire-request.ts'

function judge(response: ReceivedResponse, expected: Expected, kept: Kept): void {
  const { status, headers = {}, body, json, check } = expected
  // The message of a failure shows the complete response.
  const shown = { status: response.status, headers: Object.fromEntries(response.headers), body: response.body }
  expect([status].flat(), JSON.stringify(shown)).toContain(response.status)
  for (const [name, value] of Object.entries(headers)) {
    const received = response.headers.get(name)
    if (value instanceof RegExp) expect(received, name).toMatch(value)
    else expect(received, name).toBe(value)
  }
  if (body !== undefined) expect(response.body).toBe(body)
  if (json !== undefined) expect(JSON.parse(response.body)).toEqual(json)
  check?.(response.body, kept)
  const length = response.headers.get('content-length')
  if (length !== undefined && response.body !== '') expect(Buffer.byteLength(response.body)).toBe(Number(length))
  // No response reveals stack traces, file paths or an HTML error page.
  expect(response.body).not.toMatch(/node_modules|\bat .+:\d+:\d+|<html/iu)
}

/**
 * Sends the requests of a case in sequence and checks each response.
 *
 * @param deviation if set, replaces the expectation of every step
 */
export async function runCase(
  { steps }: ContractCase,
  send: (request: WireRequest) => Promise<ReceivedResponse>,
  deviation?: Expected,
): Promise<void> {
  const kept: Record<string, string> = {}
  for (const step of steps) {
    const response = await send(typeof step.send === 'function' ? step.send(kept) : step.send)
    judge(response, deviation ?? step.expect, kept)
    for (const [name, member] of Object.entries(step.keep ?? {})) kept[name] = JSON.parse(response.body)[member]
  }
}
