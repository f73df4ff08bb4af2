import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { containerLimits } from '../../src/config/container-limits.ts';

const reader = (files: Record<string, string>) => (path: string) => files[path];

test('without control groups, the machine is the limit', () => {
  expect(containerLimits(() => undefined)).toEqual({ cores: availableParallelism() });
});

test('version 2: a quota of half a core is one core, and the memory limit is read', () => {
  const read = reader({
    '/proc/self/cgroup': '0::/\n',
    '/sys/fs/cgroup/cpu.max': '50000 100000\n',
    '/sys/fs/cgroup/memory.max': '104857600\n',
  });
  expect(containerLimits(read)).toEqual({ cores: 1, memoryBytes: 104_857_600 });
});

test('version 2: "max" is not a limit', () => {
  const read = reader({
    '/proc/self/cgroup': '0::/\n',
    '/sys/fs/cgroup/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/memory.max': 'max\n',
  });
  expect(containerLimits(read)).toEqual({ cores: availableParallelism() });
});

test('version 2: a parent group is a limit too', () => {
  const read = reader({
    '/proc/self/cgroup': '0::/system.slice/svc.service\n',
    '/sys/fs/cgroup/system.slice/svc.service/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '100000 100000\n',
    '/sys/fs/cgroup/system.slice/svc.service/memory.max': '209715200\n',
    '/sys/fs/cgroup/system.slice/memory.max': '104857600\n',
  });
  expect(containerLimits(read)).toEqual({ cores: 1, memoryBytes: 104_857_600 });
});

test('version 1: the quota is divided by the period, and -1 is not a quota', () => {
  const group = '4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n';
  const files = {
    '/proc/self/cgroup': group,
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '100000\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '104857600\n',
  };
  expect(containerLimits(reader(files))).toEqual({ cores: 1, memoryBytes: 104_857_600 });
  const unlimited = { ...files, '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n' };
  expect(containerLimits(reader(unlimited)).cores).toBe(availableParallelism());
});
