export function consolePagesDefine(): Record<string, string>
