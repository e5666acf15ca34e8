import { expect, test } from 'vitest'
import { apiShapes } from './api-shapes.ts'
import { authorizationShapes } from './authorization-shapes.ts'
import { tokenShapes } from './token-shapes.ts'

test.each([...authorizationShapes, ...tokenShapes, ...apiShapes])('$client gets $gets', async ({ run, expected }) => {
  expect(await run()).toEqual(expected)
})
