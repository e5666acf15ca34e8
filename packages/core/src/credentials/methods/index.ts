import { definePlugin } from '../../plugin/plugin.ts'
import { basicMethod } from './basic.ts'
import { noneMethod } from './none.ts'
import { postMethod } from './post.ts'

/** The built-in authentication methods: a plugin like any other. */
export const builtInMethods = definePlugin('core', [basicMethod, postMethod, noneMethod])
