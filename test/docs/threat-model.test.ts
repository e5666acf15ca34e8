import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { root } from './code-blocks.ts'

const text = readFileSync(`${root}/docs/threat-model.md`, 'utf8')

/** The sections about attackers with their rows: claim, file in `test/`, test title. */
const attackers = text
  .split('\n## ')
  .map((section) => ({
    name: section.split('\n')[0] ?? '',
    rows: section
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.endsWith('| test file | title |'))
      .map((line) => line.slice(2, -2).split(' | ')),
  }))
  .filter(({ name }) => !['# Threat model', 'Assets', 'Trust boundaries'].includes(name))

describe('docs/threat-model.md', () => {
  test('describes every attacker', () => {
    expect(attackers.map(({ name }) => name)).toEqual([
      'Network attacker',
      'Client',
      'User',
      'Other site',
      'Plugin',
      'Proxy',
      'Store reader',
      'Store writer',
      'Backup holder',
      'Neighbor of the store',
      'Administrator',
      'Attacker of the console',
      'Operator',
    ])
  })

  test.each(attackers)('names a test that exists for each claim about: $name', ({ rows }) => {
    expect(rows.length).toBeGreaterThan(1)
    for (const [claim, file = '', title = '', ...rest] of rows) {
      expect(rest, claim).toEqual([])
      const path = `${root}/test/${file.replaceAll('`', '')}`
      expect(existsSync(path), `${claim}: ${file}`).toBe(true)
      const source = readFileSync(path, 'utf8')
      // A template can add a number before the title.
      const written = [`'${title}'`, `"${title}"`, `\`${title}\``, `} ${title}\``]
      expect(
        written.some((form) => source.includes(form)),
        `${file}: ${title}`,
      ).toBe(true)
    }
  })

  test('links to files that exist', () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/gu)) {
      expect(existsSync(`${root}/docs/${target}`), target).toBe(true)
    }
  })
})
