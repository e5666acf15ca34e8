import { defineGrant, type GrantRequest, type GrantResult } from '@grantry/core'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'

export const grantType = 'urn:example:badge'
const params = v.object({
  badge_id: v.pipe(v.string(), v.regex(/^\d{6}$/u), v.transform(Number)),
  door: v.optional(v.picklist(['north', 'south']), 'north'),
})
export type Badge = v.InferOutput<typeof params>
export type Decide = (request: GrantRequest<Badge>) => GrantResult

export const holder = { sub: '1', amr: ['badge'] }

/** A badge grant that decides as the test specifies. */
export const badge = (decide: Decide) => defineGrant({ grantType, params, handle: (request) => decide(request) })

/** A provider with that grant. */
export const start = (decide: Decide) => createTestProvider({ plugins: [badge(decide), refreshToken()] })

/** Presents a badge. */
export const present = (f: TestProvider, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: grantType, badge_id: '123456', scope: 'api1', ...more }, testClient)
