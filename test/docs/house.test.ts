import { expect, test } from 'vitest'
import { drawHouse } from '../../scripts/structure/draw-house.ts'
import { house } from '../../scripts/structure/house.ts'
import { sources } from '../architecture/source-files.ts'

test('docs/house.svg shows the imports; run this test with --update to draw it', async () => {
  await expect(drawHouse(house(sources))).toMatchFileSnapshot('../../docs/house.svg')
})

test('each unit stands above what it imports, and those that import each other share a floor', () => {
  const storeys = house([
    { path: 'packages/core/src/a/a.ts', text: "import { b } from '../b/b.ts'\nimport { c } from '../c.ts'" },
    { path: 'packages/core/src/b/b.ts', text: "import { a } from '../a/a.ts'" },
    { path: 'packages/core/src/c.ts', text: '' },
    { path: 'packages/core/src/d/d.ts', text: "import type { a } from '../a/a.ts'\nimport { c } from '../c.ts'" },
    { path: 'plugins/x/x.ts', text: "import { y } from '../y/y.ts'\nimport { a } from '@grantry/core'" },
    { path: 'plugins/y/y.ts', text: '' },
    { path: 'packages/server/src/t/t.ts', text: "import { s } from '../s/s.ts'" },
    { path: 'packages/server/src/s/s.ts', text: '' },
  ])
  expect(storeys).toEqual([
    { title: 'Packages', floors: [['plugins'], ['core', 'server']] },
    { title: 'Plugins', floors: [['x'], ['y']] },
    { title: 'Core', floors: [['a', 'b', 'd'], ['c']] },
    { title: 'Server', floors: [['t'], ['s']] },
  ])
})
