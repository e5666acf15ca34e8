export function consolePageDefine(): Record<string, string>
