import { createHash } from 'node:crypto'
import { defineGrant, definePlugin, type Grant, type GrantKit, OAuthError, type Plugin } from '@grantry/core'
import type { PluginCases } from '@grantry/testing'
import * as v from 'valibot'
import { text } from './tickets.ts'

const refuse = (reason: string): OAuthError =>
  new OAuthError('invalid_grant', 'The badge is not valid', { reason: `plugin:badge:${reason}` })

export const isBadge = (badge: string, right: string): true | undefined => (badge === right ? true : undefined)

/** How a plugin decides about a badge: `undefined` for a wrong one. */
export type Decide = (
  badge: string,
  clientAddress: string,
  kit: GrantKit,
) => Promise<true | undefined> | true | undefined

const badgeGrant = (decide: Decide, badge: v.GenericSchema<string>): Grant =>
  defineGrant({
    grantType: 'urn:example:badge',
    params: v.object({ badge }),
    async handle({ params: { badge }, request: { clientAddress = '' }, scopes }, kit) {
      if (!(await decide(badge, clientAddress, kit))) throw refuse('unknown')
      return { subject: { sub: 'holder', amr: ['badge'] }, scopes }
    },
  }) as Grant

export const badgeCase = (badge: string, wrong: string): PluginCases => ({
  grants: { 'urn:example:badge': { succeeds: { badge }, refused: [{ with: { badge: wrong } }] } },
})

/** A grant for a short code, which decides in `decide`. */
export const codeGrant = (decide: Decide, badge: v.GenericSchema<string> = text): Plugin =>
  definePlugin('badge', [badgeGrant(decide, badge)])

/** A case that issues another badge each time, and the plugin that accepts them. */
export function issuing(badgeOf: (number: number) => string, wrap: (decide: Decide) => Decide = (decide) => decide) {
  const issued = new Set<string>()
  function next(): { badge: string } {
    const badge = badgeOf(issued.size + 1)
    issued.add(badge)
    return { badge }
  }
  return {
    plugin: codeGrant(wrap((badge) => (issued.has(badge) ? true : undefined))),
    cases: { grants: { 'urn:example:badge': { succeeds: next, singleUse: false } } } satisfies PluginCases,
  }
}

/** The digits of a number, which look random. */
export const digitsOf = (number: number, count: number): string =>
  String((number * 7_368_787 + 1_234_567) % 10 ** count).padStart(count, '0')

export const randomOf = (number: number): string =>
  createHash('sha256').update(String(number)).digest('hex').slice(0, 32)

export const asUuid = (hex: string): string => {
  const [, low, middle, high, sequence, node] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/u.exec(hex) ?? []
  return `${low}-${middle}-4${high}-a${sequence}-${node}`
}

/** A code whose last digit is a sum: of ten wrong ones, nine are malformed. */
const isSummed = (code: string): boolean => {
  const sum = [...code.slice(0, -1)].reduce((total, digit) => total + Number(digit), 0)
  return code.at(-1) === String(sum % 10)
}

export const behindText = (number: number): string => `badge-of-the-house-of-example-${digitsOf(number, 6)}`

/** A grant for a code whose last digit is the sum of the others. */
export const summedGrant = (decide: Decide): Plugin =>
  codeGrant(decide, v.pipe(text, v.check(isSummed, 'must have the right last digit')))

export const perAddress = { name: 'badges', failures: 10, window: 600 }
