#!/usr/bin/env bash
# Runs tests on AVX-512 where no processor has it: boots Linux in Bochs, an emulator whose Skylake-X has (qemu has no
# AVX-512), with the tests of build/bin in its memory. Some hundred times slower than a processor: half an hour for all.
#   scripts/test_avx512.sh                                          the sweep of all ops over all targets, and the kernels' tests
#   scripts/test_avx512.sh 'device_test --gtest_filter=Winograd*'   these commands
set -euo pipefail
cd "$(dirname "$0")/.."
# Bochs 2.7 rounds ties of f16 away from even; so one test fails there on AVX2 too, and on no processor.
[ $# -gt 0 ] || set -- "op_sweep_test --gtest_filter='*HighwayTargets*'" "device_test --gtest_filter=-Tile.RoundsHalves*"

work=build/avx512
kernel=.deps/avx512-kernel
rm -rf $work
mkdir -p $work/{root/bin,root/lib64,root/proc,root/sys,root/tmp,root/dev,iso/boot/grub}
tests=()
for command in "$@"; do tests+=("build/bin/${command%% *}"); done

if ! compgen -G "$kernel/boot/vmlinuz-*" > /dev/null; then
  mkdir -p $kernel
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
  (cd $kernel && apt-get download -q "$package" && dpkg-deb -x "$package"_*.deb .)
fi
cp $kernel/boot/vmlinuz-* $work/iso/boot/vmlinuz

cp /bin/busybox $work/root/bin/
for name in sh mount sleep poweroff; do ln -s busybox $work/root/bin/$name; done
for test in "${tests[@]}"; do strip -o "$work/root/bin/$(basename "$test")" "$test"; done
ldd "${tests[@]}" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u | xargs cp -Lt $work/root/lib64

{
  cat << 'EOF'
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /tmp; mount -t devtmpfs dev /dev
exec > /dev/ttyS0 2>&1
export LD_LIBRARY_PATH=/lib64 HOME=/tmp GTEST_COLOR=no
EOF
  for command in "$@"; do echo "$command; echo \"RESULT \$? of ${command%% *}\""; done
  echo 'sleep 2; poweroff -f'
} > $work/root/init
chmod +x $work/root/init
(cd $work/root && find . | cpio -o -H newc --quiet | gzip -1) > $work/iso/boot/initrd.gz

# Bochs 2.7 is wrong about where XSAVE keeps the protection keys and how long its compact form is.
cat > $work/iso/boot/grub/grub.cfg << 'EOF'
set timeout=0
menuentry plimsoll {
  linux /boot/vmlinuz console=ttyS0 quiet nopku nopcid nosmap nosmep pti=off mitigations=off clearcpuid=pku,ospke,xsavec,xsaves tsc=reliable lpj=1000000 random.trust_cpu=on
  initrd /boot/initrd.gz
}
EOF
grub-mkrescue -o $work/boot.iso $work/iso > $work/grub.log 2>&1
cat > $work/bochsrc << EOF
cpu: model=corei7_skylake_x, count=1, ips=50000000
memory: guest=2048, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
display_library: rfb, options="timeout=0"
com1: enabled=1, mode=file, dev=$work/serial.txt
log: $work/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
clock: sync=none
EOF
echo c > $work/continue
: > $work/serial.txt

echo "booting (a minute or two); what the tests say also stands in $work/serial.txt"
bochs -q -f $work/bochsrc -rc $work/continue < /dev/null > $work/screen.txt 2>&1 &
tail --pid=$! -n +1 -f $work/serial.txt
if [ "$(grep -c '^RESULT 0 ' $work/serial.txt)" != $# ]; then
  echo "not all of them passed, or it did not boot: see $work/serial.txt and screen.txt" >&2
  exit 1
fi
