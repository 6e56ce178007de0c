// SPDX-License-Identifier: Apache-2.0
// What loading the drop-in libraries does: nothing besides. Programs fork, become daemons and close descriptors after
// that.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

namespace {

using testing::IsNull;
using testing::NotNull;

std::string path(const std::string& file) { return WEFT_DROP_IN_FOLDER "/" + file; }

std::size_t threads() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count += entry.exists() ? 1 : 0;
  return count;
}

// "3 -> /dev/null": what each open descriptor is.
std::set<std::string> descriptors() {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the one that lists this folder
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && target.string().find("/fd") == std::string::npos) {
      all.insert(entry.path().filename().string() + " -> " + target.string());
    }
  }
  return all;
}

TEST(CompatLoad, StartsNoThreadAndLeavesNothingOpen) {
  const std::size_t threads_before = threads();
  const auto descriptors_before = descriptors();
  void* const verbs = dlopen(path("libibverbs.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_THAT(verbs, NotNull()) << dlerror();
  void* const manager = dlopen(path("librdmacm.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_THAT(manager, NotNull()) << dlerror();
  EXPECT_EQ(threads(), threads_before);
  EXPECT_EQ(descriptors(), descriptors_before);
}

TEST(CompatLoad, BothUseOneEngine) {
  ASSERT_THAT(dlopen(path("libibverbs.so.1").c_str(), RTLD_NOW | RTLD_LOCAL), NotNull()) << dlerror();
  ASSERT_THAT(dlopen(path("librdmacm.so.1").c_str(), RTLD_NOW | RTLD_LOCAL), NotNull()) << dlerror();
  EXPECT_THAT(dlopen(path("libweft.so.0").c_str(), RTLD_NOW | RTLD_NOLOAD), NotNull())
      << "it was not the one next to them that was loaded";
}

TEST(CompatLoad, NamesAreFoundByTheirVersion) {
  void* const verbs = dlopen(path("libibverbs.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_THAT(verbs, NotNull()) << dlerror();
  void* const today = dlvsym(verbs, "ibv_get_device_list", "IBVERBS_1.1");
  void* const of_old = dlvsym(verbs, "ibv_get_device_list", "IBVERBS_1.0");
  EXPECT_THAT(today, NotNull());
  EXPECT_THAT(of_old, NotNull());
  EXPECT_NE(today, of_old);
  EXPECT_EQ(dlsym(verbs, "ibv_get_device_list"), today);
  EXPECT_THAT(dlvsym(verbs, "ibv_reg_mr_iova2", "IBVERBS_1.8"), NotNull());
  EXPECT_THAT(dlvsym(verbs, "ibv_reg_mr_iova2", "IBVERBS_1.1"), IsNull());
}

// Programs that look for the name without a version (dlopen("libibverbs.so")) must not fall through to another folder.
TEST(CompatLoad, DevelopmentNamesAreThereToo) {
  EXPECT_THAT(dlopen(path("libibverbs.so").c_str(), RTLD_NOW | RTLD_LOCAL), NotNull()) << dlerror();
  EXPECT_THAT(dlopen(path("librdmacm.so").c_str(), RTLD_NOW | RTLD_LOCAL), NotNull()) << dlerror();
}

}  // namespace
